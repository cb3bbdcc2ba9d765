import { build, encodeIntoCompressedBase64 } from 'hdr-histogram-js'
import { defaultContract } from '../../src/contract/default.ts'
import { type DeploymentProfile, gapIds } from '../../src/contract/profile.ts'
import { editAttempts } from '../store/edit-attempts.ts'
import { openStore, type Store } from '../store/opened.ts'

/**
 * A store with one run made up by arithmetic alone: 20 s of four steps on four accounts, with
 * 429, 403, 400, 401, a timeout and a broken stream, so that every chart has something to show.
 */
export async function seededStore(
  options: { readonly attempts?: number; readonly path?: string } = {},
): Promise<Store> {
  const attempts = options.attempts ?? 3000
  const store = await openStore(options.path ?? ':memory:')
  const verdict = {
    verdict: 'valid',
    summary: '',
    stopped: null,
    tests: [
      { name: 'lag p99', result: 'held', figure: '0.9 ms', bound: '< 5 ms', remedy: '' },
      {
        name: 'achieved / planned rate',
        result: 'held',
        figure: '1.0000',
        bound: '0.99 to 1.01',
        remedy: '',
      },
    ],
    thresholds: [
      {
        text: 'chat.ttft.p95 < 800ms',
        result: 'held',
        value: 92_600,
        bound: 800_000,
        unit: 'us',
        samples: 1054,
      },
    ],
    sweeps: [],
  }
  await store.execute(`
    INSERT INTO runs VALUES ('run-1', 'run', 'demo', '${JSON.stringify({ name: 'demo', objectives: { ttftUs: 95000 } })}', 7,
      'http://127.0.0.1:8787', '${defaultContract.name}', TIMESTAMP '2026-03-01 09:59:50', 21000000, 1.0, '0.1.0',
      '{"cores":2}', NULL, 'valid', '${JSON.stringify(verdict)}');
  `)
  await editAttempts(
    store,
    `
    INSERT INTO edited BY NAME
    WITH base AS (
      SELECT i, (i * 20e6 / ${attempts})::BIGINT AS intended,
        (hash(i) % 1000) / 1000.0 AS u, (hash(i + 7919) % 1000) / 1000.0 AS v,
        ['chat', 'chat-stream', 'messages', 'messages-stream', 'models'][1 + (hash(i + 13) % 5)::INTEGER] AS step,
        ['a-starter', 'b-small', 'c-large', 'd-huge'][1 + (hash(i + 29) % 4)::INTEGER] AS account
      FROM range(${attempts}) AS t(i)
    ),
    kinds AS (
      SELECT *, step LIKE '%stream' AS streams,
        CASE WHEN v < 0.03 THEN 429 WHEN v < 0.04 THEN 403 WHEN v < 0.05 THEN 400 WHEN v < 0.06 THEN 401
             WHEN v < 0.063 THEN 500 WHEN v < 0.064 THEN -1 WHEN v < 0.065 THEN -2 ELSE 200 END AS kind,
        (20000 + 80000 * u * u * u + CASE WHEN i % 97 = 0 THEN 400000 ELSE 0 END)::BIGINT AS ttft
      FROM base
    ),
    timed AS (
      SELECT *, intended + 400 + (u * 900)::BIGINT AS sent,
        CASE WHEN kind = 200 THEN CASE WHEN streams THEN ttft + 19 * 9000 ELSE ttft END
             WHEN kind = -1 THEN 900000 ELSE 1500 END AS lasts
      FROM kinds
    )
    SELECT 'run-1' AS run_id, i AS slot, 0 AS retry, 0 AS shard, 'main' AS phase,
      CASE WHEN intended < 1000000 THEN 'warmup' ELSE 'steady' END AS part, step AS step, 'abcdef012345' AS key_fp,
      account AS account,
      CASE WHEN step LIKE 'chat%' THEN 'chat' WHEN step LIKE 'messages%' THEN 'messages' ELSE 'models' END AS endpoint,
      streams::INTEGER AS streamed,
      CASE WHEN step = 'models' THEN NULL WHEN i % 3 = 0 THEN 'svc-k2.5' ELSE 'svc-k2' END AS model,
      CASE WHEN kind IN (400, 401) THEN 'invalid_request' ELSE 'ok' END AS expects, intended AS intended_us,
      intended + 200 AS dispatched_us, sent AS sent_us, CASE WHEN kind > 0 THEN sent + 1000 END AS headers_us,
      CASE WHEN kind = 200 AND streams THEN sent + ttft - 50 END AS first_event_us,
      CASE WHEN kind = 200 AND step <> 'models' THEN sent + ttft END AS first_content_us,
      CASE WHEN kind = 200 AND streams THEN sent + ttft + 19 * 9000 WHEN kind = 200 THEN sent + ttft END AS last_content_us,
      CASE WHEN kind = 200 THEN sent + lasts END AS done_us, sent + lasts AS closed_us,
      CASE WHEN kind = 200 THEN 'ok' WHEN kind = -1 THEN 'timeout' WHEN kind = -2 THEN 'broken' ELSE 'http_error' END AS outcome,
      CASE WHEN kind = -1 THEN 'total' WHEN kind = -2 THEN 'no-done' END AS reason,
      CASE WHEN kind > 0 THEN kind END AS status, CASE WHEN kind >= 400 THEN 'chat' END AS error_shape,
      CASE kind WHEN 429 THEN 'rate_limit_exceeded' WHEN 403 THEN 'insufficient_credits' WHEN 400 THEN 'invalid_request' WHEN 401 THEN 'invalid_api_key' END AS error_code,
      CASE kind WHEN 429 THEN 'rate_limit_error' WHEN 403 THEN 'insufficient_quota' WHEN 500 THEN 'api_error' WHEN 400 THEN 'invalid_request_error' WHEN 401 THEN 'invalid_request_error' END AS error_type,
      CASE kind WHEN 429 THEN 'slow down' WHEN 500 THEN 'the service failed' END AS error_message,
      CASE WHEN kind = 200 THEN greatest(0, CASE account WHEN 'a-starter' THEN 100 WHEN 'b-small' THEN 900 WHEN 'c-large' THEN 9000 ELSE 40000 END - i / 4) END AS credits_remaining,
      CASE account WHEN 'a-starter' THEN 20 WHEN 'b-small' THEN 60 WHEN 'c-large' THEN 200 ELSE 500 END AS rate_limit,
      greatest(0, CASE account WHEN 'a-starter' THEN 20 WHEN 'b-small' THEN 60 WHEN 'c-large' THEN 200 ELSE 500 END - i / 8) AS rate_remaining,
      40 AS rate_reset, epoch(TIMESTAMP '2026-03-01 09:59:50')::BIGINT + intended // 1000000 AS date_s,
      'id-' || i AS response_id, 'svc-k2' AS response_model, CASE WHEN kind = 200 THEN 'stop' END AS finish_reason,
      1 AS choices, 12 AS prompt_tokens, CASE WHEN kind = 200 THEN 20 END AS completion_tokens, 32 AS total_tokens,
      CASE WHEN streams THEN 22 ELSE 0 END AS events, CASE WHEN streams THEN 20 ELSE 0 END AS content_events,
      0 AS unknown_events, CASE WHEN streams THEN 20 ELSE 0 END AS content_reads,
      CASE WHEN streams THEN 1 ELSE 0 END AS done_marks, 900 AS bytes_in, 0 AS flags
    FROM timed;
    INSERT INTO health SELECT 'run-1', 0, s * 1000000, CASE WHEN s = 11 THEN 34000 ELSE 900 + s * 40 END,
      CASE WHEN s = 11 THEN 41000 ELSE 1200 + s * 40 END, s * 1000000 - 500000, CASE WHEN s = 11 THEN 0.9 ELSE 0.2 END, 700 + s * 10, 12, 0 FROM range(20) AS t(s);
  `,
  )
  await storeHistograms(store)
  await storeFindings(store)
  await storeSweep(store)
  return store
}

/**
 * Adds an imported log of six weeks, a working day's shape in it, up to the afternoon of 14 March:
 * New York changes its clock on 8 March. A log of 5 and 6 February is missing.
 */
export async function seedUsage(store: Store): Promise<void> {
  await store.execute(`
    INSERT INTO usage_events (
      source, id, at_us, ingested_us, import_no, model, endpoint, key_fp, account, outcome, status, error_code,
      credits, prompt_tokens, cached_tokens, completion_tokens)
    SELECT 'gateway', 'e' || i, at_us, at_us, 1,
      ['svc-k2', 'svc-k2.5', 'svc-k2-thinking'][1 + (hash(i) % 3)::INTEGER], ['chat', 'messages'][1 + (i % 2)],
      ['0a1b2c3d4e5f', '99aa88bb77cc', 'f00dfeed0123'][1 + (hash(i + 3) % 3)::INTEGER], 'team-' || (1 + hash(i + 3) % 3),
      CASE WHEN u < 0.03 THEN 'http_error' WHEN u < 0.032 THEN 'timeout' ELSE 'ok' END,
      CASE WHEN u < 0.02 THEN 429 WHEN u < 0.03 THEN 500 WHEN u >= 0.032 THEN 200 END,
      CASE WHEN u < 0.02 THEN 'rate_limit_exceeded' END,
      CASE WHEN u < 0.032 THEN 0 WHEN hash(i) % 3 = 1 THEN 2 ELSE 1 END,
      CASE WHEN u >= 0.032 THEN 40 + i % 60 END,
      CASE WHEN u >= 0.032 THEN 16 * (i % 3) END, CASE WHEN u >= 0.032 THEN 150 + i % 200 END
    FROM (
      SELECT i, (hash(i + 11) % 1000) / 1000.0 AS u,
        epoch_us(TIMESTAMP '2026-02-01 00:00:00') + (i // 6) * 3600000000 + (i % 6) * 500000000 AS at_us
      FROM range(6 * 24 * 42) AS t(i)
    )
    WHERE at_us < epoch_us(TIMESTAMP '2026-03-14 17:20:00')
      AND NOT (at_us BETWEEN epoch_us(TIMESTAMP '2026-02-05 00:00:00') AND epoch_us(TIMESTAMP '2026-02-07 00:00:00'))
      AND (hash(i) % 10) < 3 + 6 * (hour(make_timestamp(at_us)) BETWEEN 13 AND 22 AND dayofweek(make_timestamp(at_us)) BETWEEN 1 AND 5)::INTEGER;
    INSERT INTO usage_polls
    SELECT epoch_us(TIMESTAMP '2026-02-01 00:00:00') + d * 86400000000, NULL, 'http://127.0.0.1:8787', '0a1b2c3d4e5f', 200,
      d * 118, 9000 - d * 118, d * 100, 310, NULL, NULL
    FROM range(42) AS t(d)`)
}

/** The search of `run-sweep` again, with streams: `run-streams`. */
export async function seedStreams(store: Store): Promise<void> {
  await editAttempts(
    store,
    `INSERT INTO edited SELECT * REPLACE ('run-streams' AS run_id, 1 AS streamed, 3 AS content_events) FROM edited
     WHERE run_id = 'run-sweep'`,
  )
  await store.execute(
    `INSERT INTO runs SELECT * REPLACE ('run-streams' AS run_id) FROM runs WHERE run_id = 'run-sweep'`,
  )
}

/** Report options for that store; each test adds the page. */
export function seededOptions(store: Store) {
  const nowUs = Date.UTC(2026, 2, 15, 12) * 1000
  return { store, contract: defaultContract, runIds: [], timeZone: 'UTC', nowUs, profile }
}

/** Only one question could be asked, and one stayed open. */
const profile: DeploymentProfile = {
  version: 1,
  base_url: 'http://127.0.0.1:8787',
  contract: 'svc',
  asked_at: '2026-03-01T09:00:00.000Z',
  run_id: 'probe-1',
  credits_spent: 61,
  answers: {
    ...(Object.fromEntries(
      gapIds.map((gap) => [gap, { status: 'not-asked', why: 'not among the questions asked' }]),
    ) as DeploymentProfile['answers']),
    'G-21': { status: 'answered', is: { unit: 'delta s' }, evidence: ['falls by 1 a second'] },
    'G-22': {
      status: 'ambiguous',
      is: {},
      between: { minute: ['sliding log', 'anchored fixed'] },
      evidence: ['one burst of 30'],
    },
  },
}

/** Histograms of service time for each step and second, as the recorder writes them. */
async function storeHistograms(store: Store): Promise<void> {
  const rows = await store.rows<{ step: string; second: number; values: readonly number[] }>(`
    SELECT step, (intended_us // 1000000)::INTEGER AS second, list(done_us - sent_us) AS values
    FROM attempts WHERE outcome = 'ok' GROUP BY ALL ORDER BY ALL`)
  const stored = rows.map(({ step, second, values }) => {
    const histogram = build({
      lowestDiscernibleValue: 1,
      highestTrackableValue: 3.6e9,
      numberOfSignificantValueDigits: 3,
    })
    for (const value of values) histogram.recordValue(value)
    const hdr = encodeIntoCompressedBase64(histogram)
    return { step, at_us: second * 1e6, samples: values.length, hdr }
  })
  await store.execute(
    `INSERT INTO histograms
     SELECT 'run-1', 'main', 'steady', step, 'service', at_us, 1000000, samples, from_base64(hdr)
     FROM (SELECT unnest(from_json($1, '[{"step": "VARCHAR", "at_us": "BIGINT", "samples": "BIGINT", "hdr": "VARCHAR"}]'), recursive := true))`,
    [JSON.stringify(stored)],
  )
}

/** An audit with one verdict of each kind. */
async function storeFindings(store: Store): Promise<void> {
  const witnesses = [121, 124, 130].map((slot) => ({
    runId: 'run-1',
    slot,
    retry: 0,
    shows: `remaining 41 after 43, cost 1 (slot ${slot})`,
  }))
  const findings = [
    [
      'BILL-10',
      'must',
      'fail',
      800,
      'Credits spent equal the price of the successes.',
      {
        verdict: 'fail',
        observations: 800,
        expected: 'between 812 and 815 credits',
        observed: '829 credits',
        witnesses,
      },
    ],
    [
      'BILL-01',
      'must',
      'pass',
      640,
      'A success on a cost-1 model costs 1 credit.',
      { verdict: 'pass', observations: 640 },
    ],
    [
      'RATE-01',
      'must',
      'inconclusive',
      12,
      'The limit belongs to the row of the current band.',
      { verdict: 'inconclusive', observations: 12, why: 'the balance crossed an edge in between' },
    ],
    [
      'BILL-13',
      'must',
      'not-observed',
      0,
      'A balance under the price is refused.',
      { verdict: 'not-observed', requires: 'an account with 0 credits' },
    ],
  ] as const
  for (const [rule, severity, verdict, observations, title, detail] of findings) {
    await store.execute(
      `INSERT INTO findings VALUES ('audit-1', TIMESTAMP '2026-03-01 10:05:00', ['run-1'], $1, $2, $3, $4, $5, $6)`,
      [rule, severity, verdict, BigInt(observations), title, JSON.stringify(detail)],
    )
  }
}

/** An earlier run, `run-sweep`: five rates, of which the last two are too high. */
async function storeSweep(store: Store): Promise<void> {
  const trials = [10, 20, 40, 80, 160].map((ratePerS, at) => ({
    phase: `trial ${at}`,
    step: at === 2 ? 'hold' : 'bracket',
    ratePerS,
    ...{ sentPerS: ratePerS, planned: 100, sent: 100, judged: 100, missed: at < 3 ? 0 : 100 },
    goodput: at < 3 ? 1 : 0,
    result: at < 3 ? 'held' : 'failed',
    lastedUs: 60e6,
  }))
  const safeRate = { kind: 'held', heldPerS: 40, safePerS: 36, failedPerS: 80, budget: 'quick' }
  const objective = '95 % of answers within 1 s'
  const sweeps = [{ phase: 'trial', objective, trials, safeRate, cachedShare: 0 }]
  const verdict = {
    verdict: 'valid',
    summary: '',
    stopped: null,
    tests: [],
    thresholds: [],
    sweeps,
  }
  await store.execute(`
    INSERT INTO runs
      SELECT * REPLACE ('run-sweep' AS run_id, 'sweep' AS scenario,
        started_at - INTERVAL 1 HOUR AS started_at, '${JSON.stringify(verdict)}' AS verdict_json)
      FROM runs WHERE run_id = 'run-1';
  `)
  await editAttempts(
    store,
    `
    INSERT INTO edited BY NAME
    WITH trials AS (
      SELECT p, 10 * 2 ** p AS rate, 20 + 10 * p * p * p AS base FROM range(5) AS t(p)
    )
    SELECT 'run-sweep' AS run_id, p * 1000 + i AS slot, 0 AS retry, 0 AS shard, 'trial ' || p AS phase,
      'steady' AS part, 'chat' AS step, 'chat' AS endpoint, 0 AS streamed, 'svc-k2' AS model, 'ok' AS expects,
      (p * 10e6 + i * 1e6 / rate)::BIGINT AS intended_us, intended_us + 300 AS sent_us,
      intended_us + ((base + i % 17) * 1000)::BIGINT AS done_us, done_us AS closed_us,
      intended_us + (base * 900)::BIGINT AS first_content_us,
      CASE WHEN p > 3 AND i % 20 = 0 THEN 'http_error' ELSE 'ok' END AS outcome, 200 AS status,
      0 AS events, 0 AS content_events, 0 AS content_reads, 0 AS unknown_events, 0 AS done_marks, 0 AS bytes_in, 0 AS flags
    FROM trials, range(400) AS u(i) WHERE i < 5 * rate`,
  )
}
