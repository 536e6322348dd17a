#include "graphpae/data/generate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "graphpae/cli/command.h"
#include "graphpae/data/directory_form.h"

namespace graphpae::cli {

void add_generate(CLI::App& app, Common& common) {
  CLI::App* verb = app.add_subcommand("generate", "write a synthetic data set");
  struct Flags {
    std::string kind, output;
    bool force = false;
    SettingFlags settings;
  };
  auto flags = std::make_shared<Flags>();
  verb->add_option("KIND", flags->kind, fmt::format("one of {}", fmt::join(generate_kinds(), ", ")))->required();
  verb->add_option("-o,--output", flags->output, "directory to write")->required();
  verb->add_flag("--force", flags->force, "write into an existing directory");
  GenerateOptions defaults;
  add_setting_flags(*verb, table_of(defaults), flags->settings);
  verb->callback([flags, &common] {
    GenerateOptions options = generate_defaults(flags->kind);
    apply_settings(table_of(options), flags->settings);
    const Dataset dataset{generate(options, common.thread_count()), "generated " + flags->kind, {}};
    write_directory(flags->output, dataset.graph(), flags->force);
    if (common.json) {
      Json json = info_json(dataset);
      json["output"] = flags->output;
      return print_json(json);
    }
    fmt::print("{}", info_text(dataset, flags->output));
  });
}

}  // namespace graphpae::cli
