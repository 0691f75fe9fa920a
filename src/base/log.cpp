#include "ddpkit/base/log.hpp"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <cstdio>
#include <mutex>
#include <utility>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/printable.hpp"
#include "ddpkit/base/text.hpp"

namespace ddpkit {
namespace {

std::string_view padded_name(LogLevel level) {
  switch (level) {
    case LogLevel::debug: return "debug";
    case LogLevel::info: return "info ";
    case LogLevel::warning: return "warn ";
    case LogLevel::error: return "error";
  }
  return "?    ";
}

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::debug: return spdlog::level::debug;
    case LogLevel::info: return spdlog::level::info;
    case LogLevel::warning: return spdlog::level::warn;
    case LogLevel::error: return spdlog::level::err;
  }
  return spdlog::level::err;
}

}  // namespace

class Logger::Sinks {
 public:
  Sinks() : log_("ddpkit", std::make_shared<spdlog::sinks::stderr_sink_st>()) {
    log_.set_level(spdlog::level::trace);
    log_.flush_on(spdlog::level::trace);  // a killed job must not take its last records with it
    log_.set_error_handler([this](const std::string& reason) { complain_once(reason); });
    log_.set_pattern(kPattern);
  }

  void add_file(const std::string& path) {
    auto file = std::make_shared<spdlog::sinks::basic_file_sink_st>(path);
    const std::lock_guard lock(mutex_);
    log_.sinks().push_back(std::move(file));
    log_.set_pattern(kPattern);
  }

  void set_hook(std::function<void()> hook) {
    const std::lock_guard lock(mutex_);
    hook_ = std::move(hook);
  }

  void write(LogLevel level, const std::string& prefix, std::string_view text) {
    const auto now = spdlog::log_clock::now();
    const std::lock_guard lock(mutex_);
    if (hook_) hook_();
    while (true) {
      const std::size_t end = text.find('\n');
      log_.log(now, spdlog::source_loc{}, spdlog_level(level), spdlog::string_view_t(prefix + printable(text.substr(0, end))));
      if (end == std::string_view::npos || end + 1 == text.size()) return;
      text.remove_prefix(end + 1);
    }
  }

 private:
  static constexpr const char* kPattern = "%H:%M:%S.%e %v";

  void complain_once(const std::string& reason) {
    if (std::exchange(complained_, true)) return;
    std::fprintf(stderr, "log: a record could not be written: %s\n", reason.c_str());
  }

  std::mutex mutex_;
  spdlog::logger log_;
  std::function<void()> hook_;
  bool complained_ = false;
};

Logger::Logger(const Options& options) : options_(options), sinks_(std::make_unique<Sinks>()) {}

Logger::~Logger() = default;

void Logger::debug(std::string_view component, std::string_view text) {
  write(LogLevel::debug, component, text);
}

void Logger::info(std::string_view component, std::string_view text) {
  if (options_.rank == 0) write(LogLevel::info, component, text);
}

void Logger::warning(std::string_view component, std::string_view text) {
  write(LogLevel::warning, component, text);
}

void Logger::error(std::string_view component, std::string_view text) {
  write(LogLevel::error, component, text);
}

void Logger::also_write_to(const std::string& path) {
  try {
    sinks_->add_file(path);
  } catch (const spdlog::spdlog_ex& failure) {
    throw StorageError(text("cannot open the log file ", printable(path), ": ", failure.what()));
  }
}

void Logger::before_each_record(std::function<void()> hook) {
  sinks_->set_hook(std::move(hook));
}

void Logger::write(LogLevel level, std::string_view component, std::string_view text) {
  if (level < options_.level) return;
  const auto place = ddpkit::text(padded_name(level), " [rank ", options_.rank, '/', options_.world_size, "] ");
  sinks_->write(level, place + printable(component) + ": ", text);
}

}  // namespace ddpkit
