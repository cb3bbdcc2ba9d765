-- Data of the dashboard that the ledger does not have.

-- Simulated payments. The order's name is made with its form, so a form that is sent twice is one
-- payment.
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

-- Signed-in browsers, by the SHA-256 of the secret in their cookie.
CREATE TABLE IF NOT EXISTS sessions (
  hash       TEXT    PRIMARY KEY,
  account_id INTEGER NOT NULL REFERENCES accounts (id),
  -- account: everything; usage: opened with an API key, for the usage page only.
  scope      TEXT    NOT NULL,
  -- The key that opened it. The session ends when the key does.
  key_id     INTEGER REFERENCES api_keys (id),
  seen_us    INTEGER NOT NULL
) STRICT;
