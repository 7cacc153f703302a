// What a unit of lib/base would look like if it reached upwards.
#include "guestlist/hash/key_hasher.hpp"
