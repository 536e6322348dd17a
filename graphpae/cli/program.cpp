#include "graphpae/cli/program.h"

#include <fmt/format.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdio>
#include <new>
#include <optional>

#include "graphpae/cli/bench_verb.h"
#include "graphpae/cli/command.h"
#include "graphpae/cli/help.h"
#include "graphpae/cli/interrupt.h"
#include "graphpae/core/error.h"
#include "graphpae/core/suggest.h"
#include "graphpae/io/atomic_file.h"
#include "graphpae/io/text.h"
#include "graphpae/version.h"

namespace graphpae::cli {
namespace {

void add_common_flags(CLI::App& app, Common& common) {
  app.add_option("--threads", common.threads, "Use this many threads; the default is all processors.")
      ->check(CLI::Range(1, 4096))
      ->type_name("N");
  app.add_flag("--json", common.json, "Print the result as JSON.");
  app.add_flag("-q,--quiet", common.quiet, "Print no messages but errors.");
  app.add_flag("-v,--verbose", common.verbose, "Print more messages.");
  app.add_flag("--no-progress", common.no_progress, "Show no progress bars.");
  app.add_option("--log-file", common.log_file, "Also write messages to this file.")->type_name("FILE");
}

// The first flag that neither the program nor its verb knows, with the one that may be meant.
std::optional<std::string> unexpected_flag(const CLI::App& app, int argc, char** argv) {
  std::vector<std::string> known;
  const auto add = [&](const CLI::App& of) {
    for (const CLI::Option* option : of.get_options()) {
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    }
  };
  add(app);
  for (const CLI::App* verb : app.get_subcommands()) add(*verb);
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i], flag = word.substr(0, word.find('='));
    if (word == "--") break;
    if (!word.starts_with("--") || std::find(known.begin(), known.end(), flag) != known.end()) continue;
    return fmt::format("unknown flag {}{}", flag, did_you_mean(flag, known));
  }
  return std::nullopt;
}

void set_up_log(const Common& common) {
  std::vector<spdlog::sink_ptr> sinks = {std::make_shared<spdlog::sinks::stderr_sink_mt>()};
  if (!common.log_file.empty()) {
    try {
      sinks.push_back(std::make_shared<spdlog::sinks::basic_file_sink_mt>(common.log_file));
    } catch (const spdlog::spdlog_ex&) {
      throw usage_error(fmt::format("--log-file {}: cannot be written", common.log_file));
    }
  }
  auto logger = std::make_shared<spdlog::logger>("graphpae", sinks.begin(), sinks.end());
  logger->set_pattern("%v");
  logger->set_level(common.quiet ? spdlog::level::err : common.verbose ? spdlog::level::debug : spdlog::level::info);
  spdlog::set_default_logger(logger);
}

// A message that is empty has been given by another process.
int report(const std::string& message, int code) {
  if (!message.empty()) fmt::print(stderr, "graphpae: error: {}\n", with_final_names(message));
  return code;
}

int run(int argc, char** argv, const ExtraVerbs& extra_verbs) {
  Common common;
  common.command = "graphpae " + shell_words({argv + 1, argv + argc});
  CLI::App app("Learn representations of nodes and molecules without labels (Graph Positional Autoencoders).",
               "graphpae");
  use_our_help(app);
  app.set_version_flag("--version", std::string("graphpae ") + kVersion, "Show the version and exit.");
  app.require_subcommand(1);
  app.fallthrough();
  add_common_flags(app, common);
  add_generate(app, common);
  add_info(app, common);
  add_convert(app, common);
  add_recipes(app, common);
  add_methods(app, common);
  add_settings(app, common);
  add_positions(app, common);
  add_launch(app, common);
  add_reproduce(app, common);
  if (extra_verbs) extra_verbs(app, common);
  const auto is_bench = [](const CLI::App* verb) { return verb->get_name() == "bench"; };
  if (app.get_subcommands(is_bench).empty()) add_absent_bench(app);
  app.parse_complete_callback([&] { set_up_log(common); });

  std::vector<std::string> verbs;
  for (const CLI::App* verb : app.get_subcommands({})) verbs.push_back(verb->get_name());
  const std::string word = first_word(argc, argv);
  if (!word.empty() && std::find(verbs.begin(), verbs.end(), word) == verbs.end()) {
    throw usage_error(
        fmt::format("unknown verb '{}'{}; `graphpae --help` lists them", word, did_you_mean(word, verbs)));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ExtrasError& error) {
    throw usage_error(unexpected_flag(app, argc, argv).value_or(error.what()));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    throw usage_error(error.what());
  }
  return 0;
}

}  // namespace

std::string first_word(int argc, char** argv) { return argc > 1 && argv[1][0] != '-' ? argv[1] : ""; }

int report_exception() {
  try {
    throw;
  } catch (const Error& error) {
    return report(error.what(), error.exit_code());
  } catch (const std::bad_alloc&) {
    return report("not enough memory", static_cast<int>(ErrorKind::memory));
  } catch (const std::exception& error) {
    return report(fmt::format("internal: {}", error.what()), static_cast<int>(ErrorKind::internal));
  }
}

int run_program(int argc, char** argv, const ExtraVerbs& extra_verbs) {
  handle_interrupts();
  try {
    return run(argc, argv, extra_verbs);
  } catch (const std::exception&) {
    return report_exception();
  }
}

}  // namespace graphpae::cli
