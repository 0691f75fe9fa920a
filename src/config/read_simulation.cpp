#include "ddpkit/config/read_simulation.hpp"

#include "config/field_reader.hpp"
#include "config/problems.hpp"
#include "config/read_text_file.hpp"
#include "config/yaml_tree.hpp"
#include "ddpkit/base/figures.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

/// A step profile as a file.
struct ProfileFile {
  std::string format;
  std::int64_t version = 0;
  StepProfile profile;
};

template <class Visitor>
void visit_fields(Visitor& visit, ProfileFile& file) {
  visit("format", file.format, "what the document is");
  visit("version", file.version, "of the format");
  visit_fields(visit, file.profile);
}

/// A file on its way into a struct, with what is wrong in it.
class StrictFile {
 public:
  /// `what` is its role in messages: "a step profile".
  StrictFile(const std::string& path, const char* what) : source_{.kind = Source::Kind::file, .name = path}, what_(what) {
    root_ = read_yaml(read_text_file(path, what), source_, problems_);
    problems_.throw_if_any();
  }

  /// Refuses other documents at once, since nothing else in them would fit.
  void require_format(std::string_view format) {
    for (const YamlEntry& entry : root_.entries)
      if (entry.key == "format" && entry.value.text == format) return;
    problems_.add(source_, {}, "", text("is not ", what_, ": its format is not \"", format, "\""));
    problems_.throw_if_any();
  }

  template <class T>
  void read(T& value) {
    if (root_.kind == YamlNode::Kind::null) problems_.add(source_, {}, "", text(what_, " is empty"));
    FieldReader(source_, problems_, origins_, FieldReader::Hints::section).read(root_, "", value);
    problems_.throw_if_any();
  }

  void require(const std::string& path, std::string_view what) {
    if (!origins_.given(path)) problems_.add(source_.name, path, text("is missing; give ", what));
  }

  void refuse(const std::string& path, std::string_view message) {
    const std::string_view place = origins_.of(path);
    problems_.add(place == "default" ? std::string_view(source_.name) : place, path, message);
  }

  void finish() const { problems_.throw_if_any(); }

 private:
  Source source_;
  Problems problems_;
  Origins origins_;
  const char* what_;
  YamlNode root_;
};

void check_link(const ClusterLink& link, const std::string& name, const std::string& when, StrictFile& file) {
  file.require(name + ".latency_us", "the microseconds of a hop " + when);
  file.require(name + ".gbit_per_second", "the bandwidth " + when);
  if (link.efficiency_low && *link.efficiency_low > link.efficiency)
    file.refuse(name + ".efficiency_low", text("must not be above efficiency, ", figure(link.efficiency)));
  if (link.efficiency_high && *link.efficiency_high < link.efficiency)
    file.refuse(name + ".efficiency_high", text("must not be below efficiency, ", figure(link.efficiency)));
}

void check_gradients(const StepProfile& profile, StrictFile& file) {
  double last = 0;
  for (std::size_t i = 0; i < profile.gradients.size(); ++i) {
    const std::string path = text("gradients[", i, "]");
    const double ready = profile.gradients[i].ready_seconds;
    file.require(path + ".bytes", "its size");
    file.require(path + ".ready_seconds", "when it is ready");
    if (ready < last)
      file.refuse(path + ".ready_seconds", text("gradients are listed as they become ready, but ", seconds_figure(ready),
                                                " is before ", seconds_figure(last)));
    if (ready > profile.backward_seconds)
      file.refuse(path + ".ready_seconds", text("must not be after backward, ", seconds_figure(profile.backward_seconds),
                                                ", got ", seconds_figure(ready)));
    last = ready;
  }
}

void check_profile(const StepProfile& profile, StrictFile& file) {
  file.require("samples", "the samples of one rank in one window");
  file.require("forward_seconds", "the time before the last backward begins");
  file.require("backward_seconds", "the time of backward");
  file.require("optimizer_seconds", "the time of the update, or 0 where backward includes it");
  if (profile.gradients.empty()) file.refuse("gradients", "expected at least one; nothing would travel");
  check_gradients(profile, file);
  if (!(profile.compute_seconds() > 0)) file.refuse("backward_seconds", "a step must take time");
  if (const std::string digest = model_digest(profile.gradients); !profile.digest.empty() && profile.digest != digest)
    file.refuse("digest", text("is not that of these gradients, ", digest,
                               "; they are of another model, or were edited: leave the digest out then"));
}

}  // namespace

Cluster read_cluster(const std::string& path) {
  StrictFile file(path, "a cluster's description");
  Cluster cluster;
  file.read(cluster);
  file.require("nodes", "the number of machines");
  file.require("ranks_per_node", "the ranks of each machine");
  if (cluster.ranks_per_node > 1) check_link(cluster.within, "within", "within a node", file);
  if (cluster.nodes > 1) check_link(cluster.between, "between", "between nodes", file);
  file.finish();
  return cluster;
}

StepProfile read_step_profile(const std::string& path) {
  StrictFile file(path, "a step profile");
  ProfileFile read;
  file.require_format(kStepProfileFormat);
  file.read(read);
  if (read.version != kStepProfileVersion)
    file.refuse("version",
                text("this ddpkit reads version ", kStepProfileVersion, ", got ", read.version, "; record it again"));
  file.finish();
  check_profile(read.profile, file);
  file.finish();
  return read.profile;
}

}  // namespace ddpkit
