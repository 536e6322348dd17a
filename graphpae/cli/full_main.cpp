// graphpae-full: all verbs but bench. Started by graphpae.
#include "graphpae/cli/program.h"

int main(int argc, char** argv) {
  using namespace graphpae::cli;
  return run_program(argc, argv, [](CLI::App& app, Common& common) {
    add_demo(app, common);
    add_auto(app, common);
    add_pretrain(app, common);
    add_embed(app, common);
    add_evaluate(app, common);
    add_finetune(app, common);
    add_predict(app, common);
    add_spectrum(app, common);
    add_report(app, common);
    add_manual(app);
  });
}
