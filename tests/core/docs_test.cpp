// The settings page of the documentation is written from the declarations.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "graphpae/core/options.h"
#include "graphpae/data/generate.h"
#include "graphpae/settings/all_settings.h"
#include "graphpae/settings/finetune_settings.h"
#include "tests/support/temp_dir.h"

namespace graphpae {
namespace {

// A Markdown table of all options: key, type, default, range, meaning.
std::string describe_options(const OptionTable& table) {
  std::string text = "| setting | type | default | range | meaning |\n|---|---|---|---|---|\n";
  const auto cell = [](std::string value) {
    for (size_t at = 0; (at = value.find('|', at)) != std::string::npos; at += 2) value.replace(at, 1, "\\|");
    return value;
  };
  for (const Option& option : table.options()) {
    text += fmt::format("| `{}` | {} | {} | {} | {} |\n", option.key, cell(option.type),
                        option.default_value.empty() ? "" : "`" + cell(option.default_value) + "`", cell(option.range),
                        cell(option.help));
  }
  return text;
}

std::string settings_page() {
  Settings settings;
  FinetuneSettings finetune_settings;
  ReadingSettings reading_settings;
  GenerateOptions generate_options;
  OptionTable training, finetuning, generating;
  declare(training, settings);
  declare(training, reading_settings);
  declare(finetuning, finetune_settings);
  declare(generating, generate_options);
  return "# Settings\n\nThis page is generated from the declarations in the source (see CONTRIBUTING).\n\n"
         "Precedence: command line, then `--config FILE.yaml`, then recipe, then default. On the command line a "
         "setting is\n"
         "`--set key=value`. In YAML, `probe: {lr: 0.01}` and `probe.lr: 0.01` are the same.\n\n"
         "## Pre-training and recipes\n\n" +
         describe_options(training) +
         "\n## Fine-tuning\n\nIn recipes a map `finetune:`; as flags of `graphpae finetune` without the first word: "
         "`--loss l1`.\n\n" +
         describe_options(finetuning) + "\n## `graphpae generate`\n\nAlso as flags: `--small-components 3`.\n\n" +
         describe_options(generating);
}

TEST(Docs, SettingsPageIsCurrent) {
  const std::string path = GRAPHPAE_SOURCE_DIR "/docs/settings.md";
  if (std::getenv("GRAPHPAE_UPDATE_DOCS") != nullptr) std::ofstream(path) << settings_page();
  EXPECT_EQ(test::slurp(path), settings_page()) << "run with GRAPHPAE_UPDATE_DOCS=1 to rewrite the page";
}

}  // namespace
}  // namespace graphpae
