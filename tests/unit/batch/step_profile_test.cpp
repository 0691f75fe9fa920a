#include "ddpkit/batch/step_profile.hpp"

#include "support/catch.hpp"

using namespace ddpkit;
using Catch::Matchers::Contains;

namespace {

const std::vector<GradientTiming> kGradients{{"fc.bias", 40, 0.1}, {"fc.weight", 4000, 0.2}};

}  // namespace

TEST_CASE("a digest does not depend on the order in which gradients became ready, nor on when") {
  const std::vector<GradientTiming> other{{"fc.weight", 4000, 0.3}, {"fc.bias", 40, 0.4}};
  CHECK(model_digest(kGradients) == model_digest(other));
  CHECK(model_digest(kGradients).size() == 16);
}

TEST_CASE("a digest tells other names and other sizes") {
  std::vector<GradientTiming> other = kGradients;
  other[0].bytes = 44;
  CHECK(model_digest(other) != model_digest(kGradients));
  other = kGradients;
  other[1].name = "fc2.weight";
  CHECK(model_digest(other) != model_digest(kGradients));
}

TEST_CASE("a step profile adds up its parts") {
  const StepProfile profile{.forward_seconds = 1, .backward_seconds = 2, .optimizer_seconds = 4, .gradients = kGradients};
  CHECK(profile.compute_seconds() == 7);
  CHECK(profile.gradient_bytes() == 4040);
}

TEST_CASE("a step profile is written with its version, its digest and all digits") {
  const std::string json = to_json(StepProfile{.model = "mlp", .backward_seconds = 1.0 / 3, .gradients = kGradients});
  CHECK_THAT(json, Contains("\"format\": \"ddpkit step profile\""));
  CHECK_THAT(json, Contains("\"version\": 1"));
  CHECK_THAT(json, Contains("\"backward_seconds\": 0.3333333333333333"));
  CHECK_THAT(json, Contains("\"digest\": \"" + model_digest(kGradients) + "\""));
}
