// One function per verb that declares it, and what verbs are made of.
#pragma once

#include "graphpae/cli/common.h"
#include "graphpae/cli/data_flags.h"
#include "graphpae/cli/setting_flags.h"

namespace graphpae::cli {

// Declares a verb; its callback runs it.
void add_auto(CLI::App& app, Common& common);
void add_demo(CLI::App& app, Common& common);
void add_generate(CLI::App& app, Common& common);
void add_info(CLI::App& app, Common& common);
void add_convert(CLI::App& app, Common& common);
void add_recipes(CLI::App& app, Common& common);
void add_methods(CLI::App& app, Common& common);
void add_settings(CLI::App& app, Common& common);
void add_positions(CLI::App& app, Common& common);
void add_spectrum(CLI::App& app, Common& common);
void add_launch(CLI::App& app, Common& common);
void add_reproduce(CLI::App& app, Common& common);
void add_pretrain(CLI::App& app, Common& common);
void add_embed(CLI::App& app, Common& common);
void add_evaluate(CLI::App& app, Common& common);
void add_finetune(CLI::App& app, Common& common);
void add_predict(CLI::App& app, Common& common);
void add_report(CLI::App& app, Common& common);
void add_manual(CLI::App& app);  // after all others, which it writes about

// Shared between verbs.
Json info_json(const Dataset& dataset);
std::string info_text(const Dataset& dataset, const std::string& name);

}  // namespace graphpae::cli
