#pragma once

// One connection: reads requests, has them answered one after the other, writes the answers of all
// requests that came together in one go. Everything runs on its loop's thread; only `respond` and
// the stream's functions may be called from elsewhere.

#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <memory>
#include <string>

#include "event_loop.hpp"
#include "request_reader.hpp"

namespace guestlist::http {

/// What a stream's two ends share.
struct StreamState {
  std::atomic<bool> is_open = true;
  std::atomic<std::size_t> pending_bytes = 0;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using Socket = boost::asio::ip::tcp::socket;

  Connection(Socket socket, std::shared_ptr<EventLoop> loop);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void start();
  /// Closes when idle or streaming; a request that is being answered is answered first.
  void drain();
  void close();
  /// Closes where the time of what it waits for is over.
  void check_time(EventLoop::Clock::time_point now);

  // From any thread.
  void respond(std::uint64_t exchange, const PreparedResponse& response);
  void stream(std::uint64_t exchange, const std::shared_ptr<StreamState>& stream);
  bool push(const std::shared_ptr<StreamState>& stream, std::string event);
  void end_stream(const std::shared_ptr<StreamState>& stream);

 private:
  enum class Phase : std::uint8_t { reading, answering, streaming, closing, closed };

  using ErrorCode = boost::system::error_code;
  using Time = EventLoop::Clock::time_point;

  void read();
  void on_read(const ErrorCode& code, std::size_t bytes);
  void process();
  bool read_batch();
  void ask();
  void refuse(unsigned status);
  void answer(std::uint64_t exchange, const PreparedResponse& response);
  void begin_stream(std::uint64_t exchange, const std::shared_ptr<StreamState>& stream);
  void write();
  void write_rest();
  void on_written(const ErrorCode& code, std::size_t bytes);
  void took(std::size_t bytes) noexcept;
  void finish();
  void set_reading_deadline();
  template <class Action>
  void on_own_thread(Action action);

  const std::shared_ptr<EventLoop> loop_;  ///< first, since the socket needs its context to the end
  ServerState& server_;
  Socket socket_;
  RequestReader reader_;
  Phase phase_ = Phase::reading;
  Time begun_ = {};  ///< the request that is being read
  Time deadline_ = {};
  Time write_deadline_ = {};
  std::uint64_t exchange_ = 0;  ///< the number of the request
  std::string out_ = {};        ///< what is to be written
  std::string writing_ = {};    ///< what is being written
  std::size_t written_ = 0;
  std::size_t discarded_ = 0;
  bool is_reading_ = false;
  bool is_writing_ = false;
  bool is_processing_ = false;
  bool has_begun_ = false;
  bool keeps_alive_ = true;
  bool is_head_ = false;
  bool is_refused_ = false;
  std::shared_ptr<StreamState> stream_ = {};
};

}  // namespace guestlist::http
