#include "graphpae/cli/manual.h"

#include <fmt/format.h>

#include <memory>

#include "graphpae/cli/command.h"

namespace graphpae::cli {

// Hidden: for whoever installs the program.
void add_manual(CLI::App& app) {
  CLI::App* verb = app.add_subcommand("manual", "Print the manual page, or the completions of a shell.")->group("");
  auto form = std::make_shared<std::string>();
  verb->add_option("FORM", *form, "Print this: man, bash, zsh or fish.")->required()->type_name("man|bash|zsh|fish");
  verb->callback([form, &app] {
    using Writer = std::string (*)(const Outline&);
    const auto writer = choose<Writer>(
        "FORM", *form,
        {{"man", man_page}, {"bash", bash_completions}, {"zsh", zsh_completions}, {"fish", fish_completions}});
    fmt::print("{}", writer(outline(app)));
  });
}

}  // namespace graphpae::cli
