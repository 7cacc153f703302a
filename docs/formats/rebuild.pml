/* The rebuild of one shard of a shared filter: docs/formats/rebuild.md says what is modelled and
 * how to run it. A step in braces is one script or command on the server, so it is atomic; whatever
 * stands between two of them may take any time. A process that dies, or is stopped, is one that is
 * not run again: every prefix of every run is looked at.
 *
 * Each -D below takes one precaution away, and spin must then find a present key called absent:
 *   NO_SYNC      adds do not go to both generations before the swap
 *   NO_LOOKBACK  the log is replayed from `begin` on, not from further back
 *   NO_WAIT      nobody waits for open writes where the log cannot tell
 *   NO_FENCE     what a builder sends is carried out whoever builds by then
 *   NO_EPOCH     an add does not compare the epoch
 *   NO_SERVER    a check does not compare the server's replication id
 *   OLD_EPOCHS   a server that lost writes comes to the same epochs and numbers again
 */

#define GENERATIONS 5
#define OLD 1 /* the key that is there from the beginning; 2 and 4 are the writers' */

typedef Shard {
  bool exists;
  byte epoch;
  byte live;               /* number of a generation; 0: none */
  byte building;
  bool synced;             /* adds go to both */
  byte builder;            /* token; 0: none */
  byte newest;             /* token of the last one that began */
  byte served_by;          /* replication id when `live` was published */
  byte logged;             /* keys that the log got */
  byte log;                /* those that it still has */
  byte bits[GENERATIONS];  /* keys; what is nobody's is 0 */
  byte by[GENERATIONS]     /* whose parameters placed them; 0: there is no such segment */
}

Shard server, replica;
byte server_id = 1;
byte source = OLD;  /* committed rows */
byte added = OLD;   /* the add has reported success */
byte last_epoch = 1, last_generation = 1;
bool was_uploaded[3];
byte uploaded_bits[3], uploaded_as[3];

inline copy(from, to) {
  to.exists = from.exists; to.epoch = from.epoch; to.live = from.live; to.building = from.building;
  to.synced = from.synced; to.builder = from.builder; to.newest = from.newest;
  to.served_by = from.served_by;
  to.logged = from.logged; to.log = from.log;
  to.bits[1] = from.bits[1]; to.bits[2] = from.bits[2]; to.bits[3] = from.bits[3];
  to.bits[4] = from.bits[4];
  to.by[1] = from.by[1]; to.by[2] = from.by[2]; to.by[3] = from.by[3]; to.by[4] = from.by[4]
}

inline next_epoch() {
#ifdef OLD_EPOCHS
  server.epoch = server.epoch + 1
#else
  last_epoch++;
  server.epoch = last_epoch
#endif
}

inline next_generation() {
#ifdef OLD_EPOCHS
  server.building = (server.building > server.live -> server.building : server.live) + 1
#else
  last_generation++;
  server.building = last_generation
#endif
}

/* Of this builder, and of no later one. */
#ifdef NO_FENCE
#define IS_BUILDER(token, number) true
#define MAY_UPLOAD(token, number) true
#else
#define IS_BUILDER(token, number) \
  (server.exists && server.builder == token && server.building == number)
#define MAY_UPLOAD(token, number) (IS_BUILDER(token, number) && !server.synced)
#endif

/* Each entry names the one before it, so a gap shows. */
#define LOG_SHOWS_ALL(since) \
  ((server.logged & since) == since && (server.logged & ~since & ~server.log) == 0)

#ifdef NO_EPOCH
#define SAME_EPOCH(known) true
#else
#define SAME_EPOCH(known) (server.epoch == known)
#endif

#ifdef NO_SERVER
#define SAME_SERVER(known) true
#else
#define SAME_SERVER(known) (server_id == known)
#endif

/* Adds its key, and commits the row some time later. */
proctype Writer(byte key) {
  byte epoch, live, live_by, next, next_by;
  bool is_added;
  do
  :: !is_added ->
     d_step {
       epoch = server.epoch;
       live = server.live;
       live_by = server.by[live];
       next = (server.synced -> server.building : 0);
       next_by = server.by[next]
     }
     d_step {
       if
       :: server.exists && SAME_EPOCH(epoch) && (live == 0 || server.by[live] != 0) &&
          (next == 0 || server.by[next] != 0) ->
          if
          :: live != 0 && server.by[live] == live_by -> server.bits[live] = server.bits[live] | key
          :: else
          fi;
          if
          :: next != 0 && server.by[next] == next_by -> server.bits[next] = server.bits[next] | key
          :: else
          fi;
          server.logged = server.logged | key;
          server.log = server.log | key;
          added = added | key;
          is_added = true
       :: else
       fi
     }
  :: else -> break
  od;
  source = source | key
}

/* Asks for every key once, with what it has known of the filter since any time. */
proctype Reader() {
  byte epoch, live, by, id, present, found;
  d_step {
    server.exists && server.live != 0 && server.served_by == server_id;
    epoch = server.epoch;
    live = server.live;
    by = server.by[live];
    id = server_id
  }
  present = added;
  found = (server.by[live] == by -> server.bits[live] : 0);
  atomic {
    if
    :: by != 0 && server.exists && server.epoch == epoch && SAME_SERVER(id) ->
       assert((present & ~found) == 0)
    :: else
    fi
  }
}

proctype Builder(byte token) {
  byte number, mine, seen, waits_for, id, former, former_by, end;
  bool must_wait;

  /* begin: in place of whoever builds, for its lease may be over */
  d_step {
    server.newest = token;
    if
    :: server.exists -> skip
    :: else ->
       server.exists = true; server.live = 0; server.building = 0; server.logged = 0;
       server.log = 0; server.served_by = server_id
    fi;
    next_generation();
    number = server.building;
    former = server.live;
    former_by = (former != 0 -> server.served_by : 0);
    server.synced = false;
    server.builder = token;
    next_epoch();
    seen = server.logged
  }
  id = server_id;

  /* read_past */
  d_step {
    must_wait = ((server.log & seen) != seen || former_by != id);
#ifndef NO_LOOKBACK
    mine = server.log & seen
#endif
  }
#ifndef NO_WAIT
  if
  :: must_wait ->
     waits_for = added & ~source;
     (source & waits_for) == waits_for
  :: else
  fi;
#endif

  /* The snapshot, and what the log got since `begin`. */
  mine = mine | source;
  d_step {
    LOG_SHOWS_ALL(seen);
    mine = mine | (server.log & ~seen);
    seen = server.logged
  }

  /* upload */
  d_step {
    MAY_UPLOAD(token, number);
    server.bits[number] = mine;
    server.by[number] = token;
    was_uploaded[token] = true;
    uploaded_bits[token] = mine;
    uploaded_as[token] = number
  }

#ifndef NO_SYNC
  d_step {
    IS_BUILDER(token, number);
    server.synced = true;
    next_epoch();
    end = server.log
  }
  /* Replay on the server. */
  d_step {
    IS_BUILDER(token, number) && LOG_SHOWS_ALL(seen);
    server.bits[number] = server.bits[number] | (end & ~seen)
  }
#endif

  /* finish */
  d_step {
    IS_BUILDER(token, number) && server_id == id;
    assert(server.newest == token);
    server.live = number;
    server.building = 0;
    server.synced = false;
    server.builder = 0;
    server.served_by = id;
    next_epoch()
  }
  d_step {
    former != 0 && former != server.live;
    server.bits[former] = 0;
    server.by[former] = 0
  }
}

/* A piece of an upload that the network held back: it was sent again, and now comes too. */
proctype Straggler(byte token) {
  d_step {
    was_uploaded[token];
    if
    :: MAY_UPLOAD(token, uploaded_as[token]) ->
       server.bits[uploaded_as[token]] = uploaded_bits[token];
       server.by[uploaded_as[token]] = token
    :: else
    fi
  }
}

/* The server is replaced by one that lacks its last writes. Clients may not notice: their
 * connections lead to the same address, or were not used meanwhile. */
proctype Failover() {
  d_step { copy(server, replica) }
  d_step {
    copy(replica, server);
    server_id++
  }
}

/* FLUSHALL, eviction of the state, or a drop. */
proctype Loss() {
  d_step {
    server.exists = false;
    server.epoch = 0; server.live = 0; server.building = 0; server.synced = false;
    server.builder = 0; server.newest = 0; server.served_by = 0;
    server.logged = 0; server.log = 0;
    server.bits[1] = 0; server.bits[2] = 0; server.bits[3] = 0; server.bits[4] = 0;
    server.by[1] = 0; server.by[2] = 0; server.by[3] = 0; server.by[4] = 0
  }
}

/* The log is bounded: it loses what it holds. */
proctype Trim() {
  d_step { server.log = 0 }
}

init {
  d_step {
    server.exists = true; server.epoch = 1; server.live = 1; server.served_by = 1;
    server.bits[1] = OLD; server.by[1] = 3;
    copy(server, replica)
  }
  atomic {
    run Writer(2);
#if WRITERS == 2
    run Writer(4);
#endif
    run Reader();
    run Builder(1);
#if BUILDERS == 2
    run Builder(2);
#endif
#ifdef STRAGGLER
    run Straggler(1);
#endif
#ifdef FAILOVER
    run Failover();
#endif
#ifdef LOSS
    run Loss();
#endif
#ifdef TRIM
    run Trim();
#endif
  }
}
