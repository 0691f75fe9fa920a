#include "ddpkit/config/read_simulation.hpp"

#include "ddpkit/base/error.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace ddpkit;
using Catch::Matchers::Contains;

namespace {

constexpr char kCluster[] = R"(name: two
nodes: 2
ranks_per_node: 4
within: {latency_us: 3, gbit_per_second: 100}
between: {latency_us: 10, gbit_per_second: 25, efficiency: 0.8, efficiency_low: 0.6}
all_reduce: hierarchical
)";

StepProfile some_profile() {
  return {.model = "caf\u00e9 \"mlp\"",
          .samples = 32,
          .forward_seconds = 1.0 / 3,
          .backward_seconds = 2e-5,
          .optimizer_seconds = 0,
          .gradients = {{"fc.bias", 40, 1e-5}, {"fc.weight", 4000, 2e-5}}};
}

/// Reads a file of this content as `name`.
template <class Read>
auto reading(const std::string& name, const std::string& content, Read read) {
  const ddpkit::testing::TemporaryFolder folder;
  ddpkit::testing::write_file(folder / name, content);
  return read((folder / name).string());
}

Cluster cluster_of(const std::string& content) {
  return reading("cluster.yaml", content, read_cluster);
}
StepProfile profile_of(const std::string& content) {
  return reading("step.json", content, read_step_profile);
}

std::string replaced(std::string content, const std::string& old, const std::string& by) {
  const auto at = content.find(old);
  REQUIRE(at != std::string::npos);
  return content.replace(at, old.size(), by);
}

/// The document of some_profile() with one text replaced.
StepProfile profile_with(const std::string& old, const std::string& by) {
  return profile_of(replaced(to_json(some_profile()), old, by));
}
Cluster cluster_with(const std::string& old, const std::string& by) {
  return cluster_of(replaced(kCluster, old, by));
}

}  // namespace

TEST_CASE("a cluster is read from YAML") {
  const Cluster cluster = cluster_of(kCluster);
  CHECK(cluster.ranks() == 8);
  CHECK(cluster.between.gbit_per_second == 25);
  CHECK(cluster.between.efficiency_low == 0.6);
  CHECK_FALSE(cluster.between.efficiency_high);
  CHECK(cluster.all_reduce == AllReduce::hierarchical);
  CHECK_FALSE(cluster.jitter);
}

TEST_CASE("mistakes in a cluster are told with line and column, all at once") {
  CHECK_THROWS_WITH(cluster_with("nodes: 2\nranks_per_node: 4", "nodes: -2\nranks_per_nod: 4"),
                    Contains("cluster.yaml:2:8: nodes: expected a whole number from 1") && Contains("cluster.yaml:3:1") &&
                        Contains("did you mean 'ranks_per_node'?"));
  CHECK_THROWS_WITH(cluster_with("latency_us: 10", "latency_us: nan"),
                    Contains("between.latency_us: expected a finite number"));
  CHECK_THROWS_WITH(cluster_with("gbit_per_second: 25", "gbit_per_second: 0"), Contains("got 0"));
  CHECK_THROWS_WITH(cluster_with("hierarchical", "star"), Contains("expected one of auto, ring, tree"));
}

TEST_CASE("what a cluster lacks is named") {
  CHECK_THROWS_WITH(cluster_with("nodes: 2\n", ""), Contains("nodes: is missing"));
  CHECK_THROWS_WITH(cluster_with("between: {latency_us: 10,", "between: {"), Contains("between.latency_us: is missing"));
  CHECK_THROWS_WITH(cluster_of(""), Contains("is empty"));
  CHECK_THROWS_AS(read_cluster("/nowhere/cluster.yaml"), StorageError);
}

TEST_CASE("a link that no rank uses may be left out") {
  CHECK(cluster_of("nodes: 2\nranks_per_node: 1\nbetween: {latency_us: 1, gbit_per_second: 10}").nodes == 2);
  CHECK(cluster_of("nodes: 1\nranks_per_node: 2\nwithin: {latency_us: 1, gbit_per_second: 10}").ranks_per_node == 2);
}

TEST_CASE("a band of efficiency must hold what is likely") {
  CHECK_THROWS_WITH(cluster_with("efficiency_low: 0.6", "efficiency_low: 0.9"), Contains("must not be above efficiency, 0.8"));
}

TEST_CASE("a step profile that was written is read with all its digits") {
  const StepProfile written = some_profile(), read = profile_of(to_json(written));
  CHECK(read.model == written.model);
  CHECK(read.forward_seconds == written.forward_seconds);
  CHECK(read.gradients.size() == 2);
  CHECK(read.gradients[1].ready_seconds == 2e-5);
  CHECK(read.digest == model_digest(written.gradients));
  CHECK(to_json(read) == to_json(written));
}

TEST_CASE("gradients of another model than the digest's are refused") {
  CHECK_THROWS_WITH(profile_with("\"bytes\": 40,", "\"bytes\": 44,"),
                    Contains("digest: is not that of these gradients") && Contains("of another model"));
  CHECK_THROWS_WITH(profile_with("fc.bias", "fc2.bias"), Contains("digest"));
}

TEST_CASE("mistakes in a step profile are told with line and column") {
  CHECK_THROWS_WITH(profile_with("\"samples\": 32", "\"samples\": -1"), Contains("step.json:8:14: samples: expected"));
  CHECK_THROWS_WITH(profile_with("\"samples\": 32,", ""), Contains("samples: is missing"));
  CHECK_THROWS_WITH(profile_with("\"backward_seconds\": 2e-05", "\"backward_seconds\": null"), Contains("backward_seconds"));
  CHECK_THROWS_WITH(profile_with("\"bytes\": 40,", "\"bytes\": 1e300,"), Contains("gradients[0].bytes: expected"));
  CHECK_THROWS_WITH(profile_with("\"bytes\": 40,", ""), Contains("gradients[0].bytes: is missing"));
  CHECK_THROWS_WITH(profile_with("\"ready_seconds\": 1e-05", "\"ready_seconds\": 1"), Contains("must not be after backward"));
  CHECK_THROWS_WITH(profile_with("\"ready_seconds\": 2e-05", "\"ready_seconds\": 1e-06"), Contains("as they become ready"));
}

TEST_CASE("other documents and versions are no step profiles") {
  CHECK_THROWS_WITH(profile_with("ddpkit step profile", "ddpkit batch profile"), Contains("its format is not"));
  CHECK_THROWS_WITH(profile_with("\"version\": 1", "\"version\": 2"), Contains("reads version 1, got 2"));
  CHECK_THROWS_AS(profile_of("{\"format\": "), ConfigError);
  CHECK_THROWS_AS(read_step_profile("/nowhere/step.json"), StorageError);
}

TEST_CASE("a step profile without gradients or without time predicts nothing and is refused") {
  StepProfile empty = some_profile();
  empty.gradients.clear();
  CHECK_THROWS_WITH(profile_of(to_json(empty)), Contains("gradients: expected at least one"));
}
