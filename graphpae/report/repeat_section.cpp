#include <fmt/format.h>

#include <filesystem>

#include "graphpae/io/text.h"
#include "graphpae/report/sections.h"

namespace graphpae {
namespace {

namespace fs = std::filesystem;

// The words of a command that trains the same with the settings of the run; a guess for runs of versions that did not
// keep them.
std::vector<std::string> repeated_words(const RunRecord& run) {
  std::vector<std::string> words;
  if (run.environment.is_object() && run.environment.contains("again") && run.environment["again"].is_array()) {
    for (const auto& word : run.environment["again"]) words.push_back(word.is_string() ? word.get<std::string>() : "");
  }
  if (!words.empty()) return words;
  const std::string data = run.environment_text("data"), named = data.empty() ? "DATA" : data;
  if (run.fine_tuned()) return {"finetune", run.environment_text("pretrained"), named};
  return {"pretrain", named};
}

}  // namespace

void add_repeat(Page& page, const RunRecord& run) {
  page.add_heading("Again");
  const std::string command = run.environment_text("command"), directory = run.environment_text("directory");
  if (!command.empty()) {
    page.add_text("The command that made this run:");
    page.add_code(command);
  }
  if (command.ends_with("graphpae demo") || command.find("graphpae demo ") != std::string::npos) return;
  // Paths are those of the directory in which the run was made.
  std::error_code unknown;
  const bool here = directory.empty() || fs::equivalent(directory, fs::current_path(), unknown);
  const std::string path = here ? run.path : fs::absolute(run.path).lexically_normal().string();
  std::vector<std::string> words = {"graphpae"};
  const std::string processes = run.environment_text("processes");
  if (!processes.empty() && processes != "1") words.insert(words.end(), {"launch", "-n", processes, "--"});
  const std::vector<std::string> repeated = repeated_words(run);
  words.insert(words.end(), repeated.begin(), repeated.end());
  words.insert(words.end(), {"--config", path + "/config.yaml", "-o", "AGAIN"});
  page.add_text(directory.empty()
                    ? "The same, with every setting from the run itself:"
                    : "The same, with every setting from the run itself, in the directory " + directory + ":");
  page.add_code(shell_words(words));
}

}  // namespace graphpae
