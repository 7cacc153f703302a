#pragma once

// The library behind EventLoop. Dear to compile: for the units that open sockets and no others.

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <thread>

#include "event_loop.hpp"

namespace guestlist::redis {

struct EventLoop::Asio {
  boost::asio::io_context context{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{
      context.get_executor()};
  std::thread thread;
};

}  // namespace guestlist::redis
