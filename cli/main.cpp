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

using namespace probably::cli;

StopFlag stop = false;
static_assert(StopFlag::is_always_lock_free, "a signal handler sets it");

extern "C" void stop_reading(int) { stop = true; }

// The first Ctrl-C ends the input, so that what was read is finished and saved; the second ends the
// program.
void handle_interrupts() {
  struct sigaction action {};
  action.sa_handler = stop_reading;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
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
    const Command command = parse_command_line(argc, argv);
    handle_interrupts();
    return std::visit([](const auto& options) { return run(options, stop); }, command);
  } catch (const Trouble& trouble) {
    tell(trouble.what());
  } catch (const std::bad_alloc&) {
    tell("There is not enough memory. Plan for fewer keys, or for a higher rate.");
  } catch (const std::exception& error) {
    tell(std::string("This should not happen: ") + error.what());
  }
  return kTrouble;
}
