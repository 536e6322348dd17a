#!/bin/sh
# Fills the tables of README.md, docs/results.md and docs/results/*.md from the records in docs/results:
#   scripts/results.sh [path of graphpae]
# New records are added with `cat OUT/results.jsonl >> docs/results/NAME.jsonl`, or tune-DATA.jsonl for `reproduce tune DATA`.
set -eu
export LC_ALL=C
root=$(cd "$(dirname "$0")/.." && pwd)
program=${1:-$root/build/graphpae}
docs=$root/docs
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# fill NAME FILE: what stands between `<!-- table: NAME -->` and `<!-- end -->` becomes the standard input.
fill() {
  cat >"$work/text"
  awk -v mark="<!-- table: $1 -->" -v text="$work/text" '
    $0 == mark { print; while ((getline line < text) > 0) print line; skip = found = 1; next }
    $0 == "<!-- end -->" { skip = 0 }
    !skip
    END { exit !found || skip }' "$2" >"$work/filled"
  cat "$work/filled" >"$2"
}

# summary EXPERIMENT COLUMNS [short]: a row per data set that has the first column, from results.csv. COLUMNS are `title=key`
# joined by `;`. A key is `VARIANT/PROTOCOL`, `BASELINE/PROTOCOL`, `published` or `seeds`. Short: without deviations.
summary() {
  awk -F, -v experiment="$1" -v columns="$2" -v short="${3:-}" '
    function shown(metric, mean, deviation) {
      decimals = (metric == "rmse" ? 3 : 2)
      text = sprintf("%.*f", decimals, mean)
      return short == "" && deviation > 0 ? text " ± " sprintf("%.*f", decimals, deviation) : text
    }
    function put(key, text) { if (!((row, key) in cells)) cells[row, key] = text }
    BEGIN {
      count = split(columns, column, ";")
      for (c = 1; c <= count; ++c) { split(column[c], pair, "="); title[c] = pair[1]; key[c] = pair[2] }
    }
    $1 != experiment || $7 == "" { next }
    {
      if (!($2 in number)) {
        name[++rows] = $2 ($6 == "rmse" ? " (RMSE)" : $6 == "rocauc" ? " (ROC-AUC)" : "")
        number[$2] = rows
      }
      row = number[$2]
      baseline = $20
      if (sub("^baseline ", "", baseline)) { put(baseline "/" $7, shown($6, $8, $9)); next }
      put($4 "/" $7, shown($6, $8, $9))
      put("published", $15 == "" ? "" : shown($6, $15, $16))
      put("seeds", $11)
    }
    END {
      line = "| data |"; rule = "|---|"
      for (c = 1; c <= count; ++c) { line = line " " title[c] " |"; rule = rule "---|" }
      print line; print rule
      for (r = 1; r <= rows; ++r) {
        if (!((r, key[1]) in cells)) continue
        line = "| " name[r] " |"
        for (c = 1; c <= count; ++c) line = line " " cells[r, key[c]] " |"
        print line
      }
    }' "$work/results.csv"
}

# transfer: mean and deviation of qm9.csv over seeds, a row per target.
transfer() {
  awk -F, '
    NR == 1 { next }
    {
      if (!($3 in unit)) { order[++targets] = $3; unit[$3] = $4; spread[$3] = $6 }
      add($1, $3, $5)
      whole[$1, $2] += $7; parts[$1, $2]++
    }
    function add(model, target, value) { n[model, target]++; s[model, target] += value; q[model, target] += value * value }
    function mean(model, target) { return s[model, target] / n[model, target] }
    function deviation(model, target, k, m) {
      k = n[model, target]; m = mean(model, target)
      return k > 1 && q[model, target] / k > m * m ? sqrt((q[model, target] / k - m * m) * k / (k - 1)) : 0
    }
    function cell(model, target) { return sprintf("%.4g ± %.2g", mean(model, target), deviation(model, target)) }
    function change(a, b) { return sprintf("%+.1f %%", 100 * (a / b - 1)) }
    END {
      print "| target | unit | deviation of labels | pre-trained | from scratch | difference |"
      print "|---|---|---|---|---|---|"
      for (t = 1; t <= targets; ++t) {
        name = order[t]
        printf "| %s | %s | %.4g | %s | %s | %s |\n", name, unit[name], spread[name], cell("pre-trained", name),
               cell("from scratch", name), change(mean("pre-trained", name), mean("from scratch", name))
      }
      for (key in parts) { split(key, part, SUBSEP); add(part[1], "", whole[key] / parts[key]) }
      printf "| mean, error over deviation | | | %s | %s | %s |\n", cell("pre-trained", ""), cell("from scratch", ""),
             change(mean("pre-trained", ""), mean("from scratch", ""))
      printf "| the same, encoder frozen | | | %s | %s (untrained) | %s |\n", cell("pre-trained and frozen", ""),
             cell("untrained and frozen", ""), change(mean("pre-trained and frozen", ""), mean("untrained and frozen", ""))
    }' "$docs/results/qm9.csv"
}

set --
for file in "$docs"/results/*.jsonl; do set -- "$@" --results "$file"; done
for page in "$docs"/results/*.md; do
  "$program" reproduce all --table-only "$@" --fill "$page" -o "$work" -q >/dev/null
done
transfer | fill transfer "$docs/results/transfer.md"
learnt='GraphPAE=GraphPAE/strict;without positions=without positions/strict'
given='untrained=untrained/strict;raw features=raw_features/strict'
published='GraphPAE, `paper`=GraphPAE/paper;published=published'
summary table2 "$learnt;$given;$published;seeds=seeds" | fill nodes "$docs/results.md"
summary table3 "$learnt;supervised=supervised/strict;$given;$published;seeds=seeds" | fill molecules "$docs/results.md"
summary ablation 'd=d/strict;c=c/strict;b=b/strict;a=a/strict;without positions=without positions/strict' |
  fill ablations "$docs/results.md"
short='GraphPAE=GraphPAE/strict;untrained encoder=untrained/strict;raw features=raw_features/strict'
short="$short;GraphPAE, paper's protocol=GraphPAE/paper;published=published"
{ summary table2 "$short" short; summary table3 "$short" short | tail -n +3; } | fill results "$root/README.md"

for file in "$docs"/results/tune-*.jsonl; do
  data=$(basename "$file" .jsonl)
  "$program" reproduce tune "${data#tune-}" --table-only --results "$file" --fill "$docs/results/tuning.md" -o "$work" -q >/dev/null
done
