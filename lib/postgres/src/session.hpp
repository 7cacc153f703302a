#pragma once

// One connection that a thread waits for, with a deadline on every wait: libpq's own blocking calls
// have none, and a server that hangs would hold their caller for ever.
//
// A session that failed to keep a deadline is in the midst of an answer and is closed: nothing else
// may be asked of it. Distinct objects: safe. Shared objects: one thread at a time.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libpq.hpp"
#include "session_parameters.hpp"

namespace guestlist::postgres {

class Session {
 public:
  /// Errors: `invalid_argument` (the address), `unavailable`, `deadline_exceeded`.
  static Result<Session> open(const PostgresOptions& options, Deadline deadline);

  /// The result of the last statement. Without values the text may hold several, in one implicit
  /// transaction. Errors: the first failure; `deadline_exceeded`.
  Result<ResultPointer> run(const std::string& sql,
                            const std::vector<std::optional<std::string>>& values,
                            Deadline deadline);

  /// Begins `COPY … TO STDOUT`.
  Result<void> begin_copy(const std::string& sql, Deadline deadline);
  /// The next line, valid until the next call; nothing at the end, which is reached only where the
  /// server has said so and `lines_read` are what it says it has sent.
  Result<std::optional<std::string_view>> next_copy_line(Deadline deadline);

  bool is_open() const noexcept { return connection_ != nullptr; }

 private:
  struct FreeMemory {
    void operator()(char* memory) const noexcept { PQfreemem(memory); }
  };
  explicit Session(ConnectionPointer connection) noexcept : connection_(std::move(connection)) {}
  Result<void> flush(Deadline deadline);
  Result<void> wait_for_input(Deadline deadline);
  Result<ResultPointer> next_result(Deadline deadline);
  Result<ResultPointer> last_result(Deadline deadline);
  Result<void> finish_copy(Deadline deadline);
  tl::unexpected<Error> close(Error why);

  ConnectionPointer connection_;
  std::unique_ptr<char, FreeMemory> line_;
  std::uint64_t lines_read_ = 0;
};

}  // namespace guestlist::postgres
