#include <fmt/format.h>

#include <memory>

#include "graphpae/cli/command.h"
#include "graphpae/data/directory_form.h"

namespace graphpae::cli {

void add_convert(CLI::App& app, Common& common) {
  CLI::App* verb = app.add_subcommand("convert", "any readable data to our own directory form");
  struct Flags {
    DataFlags data;
    std::string output;
    bool force = false;
  };
  auto flags = std::make_shared<Flags>();
  add_data_flags(*verb, flags->data);
  verb->add_option("-o,--output", flags->output, "directory to write")->required();
  verb->add_flag("--force", flags->force, "write into an existing directory");
  verb->callback([flags, &common] {
    const Dataset dataset = load_data(flags->data, common);
    if (dataset.is_graph()) {
      write_directory(flags->output, dataset.graph(), flags->force);
    } else {
      write_directory(flags->output, dataset.graph_set(), flags->force);
    }
    if (common.json) {
      Json json = info_json(dataset);
      json["output"] = flags->output;
      return print_json(json);
    }
    print_notes(dataset.notes);
    fmt::print("{}", info_text(dataset, flags->output));
  });
}

}  // namespace graphpae::cli
