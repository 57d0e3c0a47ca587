// The program `probably`.
#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <new>
#include <variant>

#include "command_line.hpp"
#include "commands.hpp"
#include "terminal/output.hpp"
#include "terminal/progress.hpp"
#include "trouble.hpp"

namespace {

using probably::cli::Command;
using probably::cli::kInterrupted;
using probably::cli::kTrouble;
using probably::cli::StopFlag;
using probably::cli::tell;
using probably::cli::Trouble;

StopFlag stop = false;
static_assert(StopFlag::is_always_lock_free, "a signal handler sets it");

volatile std::sig_atomic_t stop_signal = SIGINT;

extern "C" void stop_reading(int signal) {
  stop_signal = signal;
  stop = true;
}

// The first Ctrl-C ends the input, so that what was read is finished and saved; the second ends the
// program.
void handle_interrupts() {
  struct sigaction action {};
  action.sa_handler = stop_reading;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  ::sigaction(SIGHUP, &action, nullptr);
}

// A file that gets the number of a closed standard stream would be written to by messages.
void open_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // Opened the wrong way round, so that using it still fails.
    if (::fcntl(stream, F_GETFD) == -1) {
      static_cast<void>(::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_streams();
  try {
    const Command command = probably::cli::parse_command_line(argc, argv);
    handle_interrupts();
    const int code = std::visit([](const auto& options) { return run(options, stop); }, command);
    // As shells say it.
    return code == kInterrupted ? 128 + stop_signal : code;
  } catch (const Trouble& trouble) {
    tell(trouble.what());
  } catch (const std::bad_alloc&) {
    tell(
        "There is not enough memory: for a filter of this size, or for a record of the input that "
        "is "
        "larger than memory.");
  } catch (const std::exception& error) {
    tell(std::string("This should not happen: ") + error.what());
  }
  return kTrouble;
}
