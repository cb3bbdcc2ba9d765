-- What the dashboard knows beyond the ledger.

-- Simulated payments. The order is made with the form that pays it, so that a form sent twice is
-- one payment.
CREATE TABLE IF NOT EXISTS payments (
  id          INTEGER PRIMARY KEY,
  account_id  INTEGER NOT NULL REFERENCES accounts (id),
  order_id    TEXT    NOT NULL,
  at_us       INTEGER NOT NULL,
  package     TEXT    NOT NULL,
  credits     INTEGER NOT NULL,
  price_cents INTEGER NOT NULL,
  expires_us  INTEGER,
  UNIQUE (account_id, order_id)
) STRICT;

-- Signed-in browsers, as SHA-256 of what their cookie holds.
CREATE TABLE IF NOT EXISTS sessions (
  hash       TEXT    PRIMARY KEY,
  account_id INTEGER NOT NULL REFERENCES accounts (id),
  -- account: everything; usage: opened with an API key, may look at the usage alone.
  scope      TEXT    NOT NULL,
  -- The key that opened it: the session ends when the key does.
  key_id     INTEGER REFERENCES api_keys (id),
  seen_us    INTEGER NOT NULL
) STRICT;
