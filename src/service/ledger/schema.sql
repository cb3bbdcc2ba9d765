-- The ledger of the reference service. Money is whole credits. Time is the service's own, in epoch
-- microseconds. An account's balance always equals the sum of its entries, because both change in one
-- transaction.
CREATE TABLE IF NOT EXISTS accounts (
  id             INTEGER PRIMARY KEY,
  name           TEXT    NOT NULL UNIQUE,
  created_us     INTEGER NOT NULL,
  -- Spendable credits. Reservations of requests in progress are not stored: a restart ends those
  -- requests, and they cost nothing.
  balance        INTEGER NOT NULL DEFAULT 0,
  invite_code    TEXT    NOT NULL UNIQUE,
  invited_by     INTEGER REFERENCES accounts (id),
  payments       INTEGER NOT NULL DEFAULT 0,
  password_hash  TEXT
) STRICT;

-- API keys, as SHA-256 of the key. The key itself is shown once and never stored.
CREATE TABLE IF NOT EXISTS api_keys (
  id         INTEGER PRIMARY KEY,
  account_id INTEGER NOT NULL REFERENCES accounts (id),
  name       TEXT    NOT NULL,
  hash       TEXT    NOT NULL UNIQUE,
  -- The last four characters, so that people can tell keys apart.
  hint       TEXT    NOT NULL,
  created_us INTEGER NOT NULL,
  revoked_us INTEGER
) STRICT;

-- Credits that came in together and expire together. `remaining` is updated only when lots change (a
-- grant, an expiry). The order of burning is fixed between two changes, so the burnt credits can be
-- assigned afterwards, and a charge touches no lot.
CREATE TABLE IF NOT EXISTS lots (
  id         INTEGER PRIMARY KEY,
  account_id INTEGER NOT NULL REFERENCES accounts (id),
  source     TEXT    NOT NULL,
  credits    INTEGER NOT NULL,
  remaining  INTEGER NOT NULL,
  created_us INTEGER NOT NULL,
  expires_us INTEGER
) STRICT;
CREATE INDEX IF NOT EXISTS lots_of_account ON lots (account_id) WHERE remaining > 0;

-- Every move of a balance. Clustered by account and time: an account's history is one range, and a
-- charge appends without a separate index.
CREATE TABLE IF NOT EXISTS entries (
  account_id        INTEGER NOT NULL REFERENCES accounts (id),
  id                INTEGER NOT NULL,
  at_us             INTEGER NOT NULL,
  credits           INTEGER NOT NULL,
  balance_after     INTEGER NOT NULL,
  balance_before    INTEGER GENERATED ALWAYS AS (balance_after - credits) VIRTUAL,
  -- charge, refund, grant, purchase, expiry, adjustment
  kind              TEXT    NOT NULL,
  note              TEXT,
  key_id            INTEGER REFERENCES api_keys (id),
  request_id        TEXT,
  endpoint          TEXT,
  model             TEXT,
  stream            INTEGER,
  prompt_tokens     INTEGER,
  completion_tokens INTEGER,
  PRIMARY KEY (account_id, id)
) STRICT, WITHOUT ROWID;
