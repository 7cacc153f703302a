#include "link.hpp"

namespace guestlist::redis {

Result<std::shared_ptr<Session>> Link::session() {
  const auto now = SteadyClock().now();
  if (state_->session && !state_->session->is_over()) {
    return state_->session;
  }
  if (!state_->backoff.may_try(now)) {
    return fail(state_->last_error);
  }
  // Until it has lived for a while an attempt counts as a failure, so a server that accepts and
  // hangs up is not called in a tight loop either.
  state_->backoff.failed(now);
  state_->session =
      Session::start(loop_, endpoint_, options_, [state = state_, began = now](const Error& error) {
        state->last_error = error;
        const auto ended = SteadyClock().now();
        if (ended - began > Backoff::longest_wait) {
          state->backoff.succeeded();
        }
      });
  return state_->session;
}

void Link::close() {
  if (state_->session) {
    state_->session->close();
    state_->session.reset();
  }
  state_->backoff.succeeded();
}

}  // namespace guestlist::redis
