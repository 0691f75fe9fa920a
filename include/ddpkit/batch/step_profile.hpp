#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ddpkit/base/fields.hpp"

namespace ddpkit {

inline constexpr char kStepProfileFormat[] = "ddpkit step profile";
inline constexpr std::int64_t kStepProfileVersion = 1;

/// A gradient, or gradients that are reduced together, as one step made it.
struct GradientTiming {
  std::string name;
  std::int64_t bytes = 0;    ///< as they are sent
  double ready_seconds = 0;  ///< after the window's last backward began, on the device's own clock
};

template <class Visitor>
void visit_fields(Visitor& visit, GradientTiming& gradient) {
  visit("name", gradient.name, "of the parameter");
  visit("bytes", gradient.bytes, "as they are sent", between(1, 1e15));
  visit("ready_seconds", gradient.ready_seconds, "after the window's last backward began", between(0, 1e6));
}

/// What one rank does in one step when it waits for nobody: recorded by a run on one device, and what `simulate` starts from.
struct StepProfile {
  std::string model;                      ///< name of the run
  std::string device = "cpu";             ///< what computed
  std::string source = "recorded";        ///< where the figures come from, in words
  std::string digest;                     ///< model_digest() of the gradients; empty in files that people write
  std::int64_t samples = 0;               ///< of one rank in one window: micro x accumulate
  double forward_seconds = 0;             ///< all before the window's last backward begins, waiting for data left out
  double backward_seconds = 0;            ///< the window's last backward
  double optimizer_seconds = 0;           ///< update, and what else comes after the last gradient
  double jitter = 0;                      ///< standard deviation of a step's computing over its mean
  std::vector<GradientTiming> gradients;  ///< in the order in which they become ready

  /// Forward, backward and optimizer together.
  double compute_seconds() const noexcept { return forward_seconds + backward_seconds + optimizer_seconds; }
  std::int64_t gradient_bytes() const noexcept;
};

template <class Visitor>
void visit_fields(Visitor& visit, StepProfile& profile) {
  visit("model", profile.model, "name of the run");
  visit("device", profile.device, "what computed");
  visit("source", profile.source, "where the figures come from, in words");
  visit("digest", profile.digest, "of the gradients' names and sizes; empty in files that people write");
  visit("samples", profile.samples, "of one rank in one window: micro x accumulate", between(1, 1e12));
  visit("forward_seconds", profile.forward_seconds, "all before the window's last backward", between(0, 1e6));
  visit("backward_seconds", profile.backward_seconds, "the window's last backward", between(0, 1e6));
  visit("optimizer_seconds", profile.optimizer_seconds, "update, and what else comes after the last gradient", between(0, 1e6));
  visit("jitter", profile.jitter, "standard deviation of a step's computing over its mean", between(0, 1));
  visit("gradients", profile.gradients, "in the order in which they become ready");
}

/// 16 hexadecimal digits that tell models apart: a hash (FNV-1a) of the gradients' names and sizes, in whatever order they
/// became ready. Pure.
std::string model_digest(std::span<const GradientTiming> gradients);

/// One JSON document, "ddpkit step profile" version 1, that read_step_profile (config layer) reads. Numbers keep all their
/// digits. The digest is made where it is empty.
std::string to_json(const StepProfile& profile);

}  // namespace ddpkit
