#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "graphpae/cli/flag_groups.h"
#include "graphpae/cli/manual.h"
#include "graphpae/cli/roff.h"
#include "graphpae/cli/setting_flags.h"
#include "graphpae/settings/all_settings.h"
#include "graphpae/version.h"

namespace graphpae::cli {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

const Pairs kExitCodes = {
    {"0", "All is done."},
    {"1", "There is an error in the program."},
    {"2", "Flags or settings are wrong."},
    {"3", "Data cannot be read or are invalid, or a file cannot be written."},
    {"4", "The computation failed: no convergence, or a loss that is not finite."},
    {"5", "There is not enough memory."},
    {"130", "The program was interrupted, after it had written a checkpoint if it was training."},
};

const Pairs kFiles = {
    {"RUN/config.yaml", "Every setting of the run."},
    {"RUN/environment.json", "Version, commit, threads, processor and hash of the data."},
    {"RUN/metrics.jsonl", "A line per epoch."},
    {"RUN/checkpoints/", "What `--resume` goes on from."},
    {"RUN/model/", "The encoder: config.json, model.safetensors and README.md."},
    {"RUN/results.json", "What was measured."},
    {"RUN/report.html", "A page about the run, which opens offline."},
    {"~/.cache/graphpae/data/", "Data sets that were downloaded, if GRAPHPAE_DATA is not set."},
};

const Pairs kVariables = {
    {"GRAPHPAE_DATA", "A directory of known data sets, DIR/NAME each: they are looked for there and downloaded to it."},
    {"GRAPHPAE_CACHE", "A directory for positions and parsed molecules, which are then computed once."},
    {"GRAPHPAE_AMX", "0 turns off the matrix tiles of the processor."},
    {"XDG_CACHE_HOME, HOME", "Where downloads are kept: $XDG_CACHE_HOME, or else ~/.cache."},
    {"RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT",
     "Where this process stands among those that train together; `graphpae launch` sets them. With MASTER_ADDR alone "
     "the variables of Open MPI (OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE) or Slurm (SLURM_PROCID, SLURM_NTASKS) "
     "are read."},
    {"GLOO_SOCKET_IFNAME", "The network interface between processes."},
    {"TORCHELASTIC_USE_AGENT_STORE", "True says that the launcher keeps the store of the processes itself."},
    {"OMP_WAIT_POLICY, GOMP_SPINCOUNT",
     "How threads wait. If neither is set, the program starts itself again with a short GOMP_SPINCOUNT."},
    {"GLOG_minloglevel, TORCH_CPP_LOG_LEVEL", "What LibTorch says; by default next to nothing."},
};

const Pairs kExamples = {
    {"See how it works, offline:", "graphpae demo"},
    {"Look at an edge list with features and labels:",
     "graphpae info edges.csv --features features.npz --labels labels.csv"},
    {"Learn with the published settings and evaluate the embeddings:",
     "graphpae pretrain chameleon --recipe chameleon -o run --evaluate"},
    {"Write a row per node, or per molecule:", "graphpae embed run chameleon -o embeddings.npy"},
    {"Train on labels, then predict:",
     "graphpae finetune run molecules.csv -o tuned\ngraphpae predict tuned molecules.csv -o predictions.csv"},
    {"Change a setting:", "graphpae pretrain mydata -o run --set mask_ratio=0.5 --set epochs=200"},
    {"Rerun a table of the paper in two hours:", "graphpae reproduce table2 --budget 2h"},
};

// Groups that many verbs have are described once, in a section of their own.
const Pairs kSharedGroups = {{kReading, "READING DATA"}, {kEvaluation, "EVALUATION"}, {kSettings, "SETTINGS"}};

std::string items(const Pairs& pairs) {
  std::string text;
  for (const auto& [term, meaning] : pairs) text += roff_item(term, meaning);
  return text;
}

std::string items(const std::vector<Flag>& flags) {
  std::string text;
  for (const Flag& flag : flags) text += roff_item(flag_text(flag), flag.help);
  return text;
}

std::string verb_text(const Verb& verb) {
  std::string text = roff_subsection(verb.name) + roff_paragraph(fmt::format("`{}`", usage_text(verb)));
  text += roff_paragraph(verb.help);
  for (const Flag& argument : verb.arguments) text += roff_item(argument.names.front(), argument.help);
  text += items(verb.flags_of(kEveryday)) + items(verb.flags_of(kRare));
  for (const auto& [group, section] : kSharedGroups) {
    std::vector<std::string> names;
    for (const Flag& flag : verb.flags_of(group)) names.push_back(fmt::format("`{}`", flag.names.back()));
    if (!names.empty()) text += roff_paragraph(fmt::format("See {} for {}.", section, fmt::join(names, ", ")));
  }
  return text;
}

// The flags of a group that any verb has, each once.
std::vector<Flag> shared_flags(const Outline& program, const std::string& group) {
  std::vector<Flag> found;
  for (const Verb& verb : program.verbs()) {
    for (const Flag& flag : verb.flags_of(group)) {
      const auto same = [&](const Flag& other) { return other.names == flag.names; };
      if (std::none_of(found.begin(), found.end(), same)) found.push_back(flag);
    }
  }
  return found;
}

std::string settings_text() {
  std::string text = roff_paragraph(
      "Settings come from the command line, then from `--config`, then from the recipe, then from their defaults. A "
      "setting is given as `--set NAME=VALUE`, as a line `NAME: VALUE` of a YAML file, and as a flag of its own to "
      "verbs "
      "that train: `--mask-ratio 0.5` is `--set mask_ratio=0.5`. Flags of `finetune` go without the first word of "
      "finetune.loss.");
  AllSettings settings;
  const OptionTable table = table_of(settings);
  for (const Option& option : table.options()) text += roff_item(option.key, describe(option));
  return text;
}

}  // namespace

std::string man_page(const Outline& program) {
  std::string text = fmt::format(".TH GRAPHPAE 1 \"\" \"graphpae {}\" \"User Commands\"\n", kVersion);
  text += roff_section("NAME") + "graphpae \\- learn representations of nodes and molecules without labels\n";
  text += roff_section("SYNOPSIS") + "\\fBgraphpae\\fR \\fIVERB\\fR [\\fIARGUMENTS\\fR] [\\fIOPTIONS\\fR]\n";
  text += roff_section("DESCRIPTION");
  text += roff_paragraph(program.help +
                         " One program reads graphs and tables of molecules, trains, embeds, evaluates "
                         "and reports. Results go to stdout, messages and progress to stderr.");
  text += roff_paragraph(
      "DATA is a path or the name of a known data set. A path may be our own directory form, an edge list (.csv, .tsv, "
      ".txt, also with .gz), a NumPy, SciPy, MATLAB or MatrixMarket file, a Geom-GCN or OGB directory, a table of "
      "SMILES "
      "or an .sdf; its form is recognised. RUN is a directory that `pretrain` or `finetune` has written.");
  for (const VerbGroup& group : program.groups) {
    std::vector<std::string> names;
    for (const Verb& verb : group.verbs) names.push_back(fmt::format("`{}`", verb.name));
    text += roff_paragraph(fmt::format("{}: {}.", group.title, fmt::join(names, ", ")));
  }
  text += roff_section("OPTIONS") + roff_paragraph("Every verb takes these.") + items(program.flags);
  text += roff_section("VERBS");
  for (const Verb& verb : program.verbs()) text += verb_text(verb);
  text += roff_section("READING DATA") + items(shared_flags(program, kReading));
  text += roff_section("EVALUATION") + roff_paragraph("`pretrain` takes these with `--evaluate`.") +
          items(shared_flags(program, kEvaluation));
  text += roff_section("SETTINGS") + settings_text();
  text += roff_section("EXIT STATUS") + items(kExitCodes);
  text += roff_section("FILES") + items(kFiles);
  text += roff_section("ENVIRONMENT") + items(kVariables);
  text += roff_section("EXAMPLES");
  for (const auto& [wish, command] : kExamples) text += roff_paragraph(wish) + roff_example(command);
  text += roff_section("SEE ALSO");
  text += roff_paragraph("`graphpae VERB --help-all`, `graphpae recipes`, `graphpae methods`, `graphpae settings`");
  return text;
}

}  // namespace graphpae::cli
