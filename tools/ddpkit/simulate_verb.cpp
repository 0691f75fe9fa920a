#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/text.hpp"
#include "ddpkit/batch/step_prediction.hpp"
#include "ddpkit/observe/html_page.hpp"
#include "read_option.hpp"
#include "simulate_request.hpp"
#include "verbs.hpp"

namespace ddpkit::tool {
namespace {

void write_file(const std::string& file, const std::string& content) {
  std::ofstream out(file, std::ios::binary);
  out << content;
  if (!out.flush()) throw StorageError(text("cannot write ", file));
}

std::string page_of(const Prediction& prediction) {
  const PredictionRequest& request = prediction.request;
  HtmlPage page(text("Predicted: ", request.profile.model, " on ", request.cluster.name));
  page.paragraph(prediction_text(prediction));
  page.chart(efficiency_chart(prediction));
  page.table(prediction_table(prediction));
  page.heading("Where the figures come from");
  page.paragraph(text("The step: ", request.profile.source));
  page.paragraph(text("The cluster: ", request.cluster.source.empty() ? "not said" : request.cluster.source));
  return page.str();
}

struct SimulateVerb {
  SimulateArguments arguments;
  std::string svg;
  std::string html;
  bool json = false;

  void run() const {
    const Prediction prediction = predict(make_request(arguments));
    if (!svg.empty()) write_file(svg, to_svg(efficiency_chart(prediction)));
    if (!html.empty()) write_file(html, page_of(prediction));
    if (json)
      std::cout << to_json(prediction) << '\n';
    else
      std::cout << prediction_table(prediction).str() << "\n\n" << prediction_text(prediction) << '\n';
  }
};

}  // namespace

void add_simulate_verb(CLI::App& app) {
  const auto verb = std::make_shared<SimulateVerb>();
  SimulateArguments& arguments = verb->arguments;
  CLI::App* command = app.add_subcommand("simulate", "predict a recorded step on a cluster that is only described");
  command->add_option("--profile", arguments.profile, "step profile that a run of the program has written")
      ->type_name("FILE")
      ->required();
  command->add_option("--cluster", arguments.cluster, "description of the cluster, YAML")->type_name("FILE")->required();
  command->add_option("--ranks", arguments.ranks, "numbers of ranks, such as 8,64,512; else doubling up to all")
      ->type_name("LIST");
  add_option(*command, "--baseline", arguments.baseline, "ranks that efficiency is compared with (1)");
  add_option(*command, "--all-reduce", arguments.all_reduce, "instead of the cluster's: auto, ring, tree, hierarchical ...");
  add_option(*command, "--jitter", arguments.jitter, "instead of the cluster's or the profile's: 0.02 for 2 %");
  command->add_option("--config", arguments.config, "run file of this model: how it cuts buckets")->type_name("FILE");
  add_option(*command, "--bucket-mib", arguments.bucket_mib, "MiB of gradients that are reduced together (25)");
  add_option(*command, "--tail-kib", arguments.tail_kib, "KiB of the last bucket (1024)");
  add_option(*command, "--plan", arguments.plan, "where buckets end, as comm.plan: size or measured (size)");
  command->add_option("--svg", verb->svg, "writes efficiency against ranks as a picture")->type_name("FILE");
  command->add_option("--html", verb->html, "writes picture, table and sources as a page")->type_name("FILE");
  command->add_flag("--json", verb->json, "print one JSON document");
  command->callback([verb] { verb->run(); });
}

}  // namespace ddpkit::tool
