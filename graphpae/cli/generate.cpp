#include "graphpae/data/generate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "graphpae/cli/command.h"
#include "graphpae/data/directory_form.h"

namespace graphpae::cli {

void add_generate(CLI::App& app, Common& common) {
  CLI::App* verb = app.add_subcommand("generate", "Write a synthetic data set.");
  struct Flags {
    std::string kind, output;
    bool force = false;
    SettingFlags settings;
  };
  auto flags = std::make_shared<Flags>();
  verb->add_option("KIND", flags->kind,
                   fmt::format("Generate a graph of this kind: {}.", fmt::join(generate_kinds(), ", ")))
      ->required()
      ->type_name(fmt::format("{}", fmt::join(generate_kinds(), "|")));
  verb->add_option("-o,--output", flags->output, "Write to this directory.")->required()->type_name("DIR");
  verb->add_flag("--force", flags->force, "Write into an existing directory.");
  GenerateOptions defaults;
  add_setting_flags(*verb, table_of(defaults), flags->settings,
                    {{"nodes", "edges", "classes", "features", "homophily", "seed"}, kRare});
  verb->callback([flags, &common] {
    GenerateOptions options = generate_defaults(flags->kind);
    apply_settings(table_of(options), flags->settings);
    const Dataset dataset{generate(options, common.thread_count()), "generated " + flags->kind, {}, 0, {}, {}};
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
