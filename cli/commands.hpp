// The commands. Each returns the exit code, and throws Trouble.
#pragma once

#include "command_line.hpp"
#include "records/input.hpp"

namespace probably::cli {

// `stop` is set when the user interrupts.
int run(const DedupOptions& options, const StopFlag& stop);
int run(const BuildOptions& options, const StopFlag& stop);
int run(const AddOptions& options, const StopFlag& stop);
int run(const CheckOptions& options, const StopFlag& stop);
int run(const InfoOptions& options, const StopFlag& stop);
int run(const VerifyOptions& options, const StopFlag& stop);
int run(const MergeOptions& options, const StopFlag& stop);
int run(const DiffOptions& options, const StopFlag& stop);
int run(const ConvertOptions& options, const StopFlag& stop);
int run(const PlanOptions& options, const StopFlag& stop);
int run(const BenchOptions& options, const StopFlag& stop);
int run(const DemoOptions& options, const StopFlag& stop);
int run(const HelpOptions& options, const StopFlag& stop);

}  // namespace probably::cli
