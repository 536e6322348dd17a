// Outline: what CLI11 was told about verbs and flags, as plain data. Help, manual and completions are made of it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace graphpae::cli {

struct Flag {
  std::vector<std::string> names;  // "-o", "--output"; of an argument without dashes: "DATA"
  // What stands for its value: FILE, DIR, N, ..., or its choices "a|b|c"; "" for a flag without one.
  std::string value;
  std::string help;  // whole sentences
  std::string group;
  std::string setting;  // the key of the setting that it sets, or ""
  bool required = false, repeated = false;
};

struct Verb {
  std::string name, help;
  std::vector<Flag> arguments, flags;  // but for --help and --help-all

  std::vector<Flag> flags_of(const std::string& group) const;
};

struct VerbGroup {
  std::string title;
  std::vector<Verb> verbs;
};

struct Outline {
  std::string help;
  std::vector<Flag> flags;        // of all verbs
  std::vector<VerbGroup> groups;  // of verbs that are not hidden

  std::vector<Verb> verbs() const;
};

Verb outline_verb(const CLI::App& verb);
Outline outline(const CLI::App& program);

// "-o, --output DIR", as help and manual write it.
std::string flag_text(const Flag& flag);
// "graphpae embed RUN DATA -o FILE [OPTIONS]".
std::string usage_text(const Verb& verb);
// The choices of a value "a|b|c"; none for another.
std::vector<std::string> choices_of(const std::string& value);
// Up to its first full stop, which it keeps.
std::string first_sentence(const std::string& help);

}  // namespace graphpae::cli
