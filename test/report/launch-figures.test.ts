import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import { partsOf, prepareTop, rowsOf } from '../../src/report/page.ts'
import { prepareScope } from '../../src/report/scope.ts'
import { workloadText } from '../../src/report/workload.ts'
import { appendAttempts } from '../../src/store/attempts/recorder.ts'
import { editAttempts } from '../store/edit-attempts.ts'
import { openStore, type Store } from '../store/opened.ts'
import { attempt, enterRun } from './attempts.ts'
import { launchText } from './launch-text.ts'

let store: Store

/**
 * 100 streams, one every 10 ms, sent 1 ms late: stream i has its first event after 5 ms, its first
 * content after 10 + i ms, 10 more tokens, 2 ms apart, and ends with the last. Around them: a slow
 * warm-up, an immediate 429, a timeout after 3 s, and a request that was never sent.
 */
beforeAll(async () => {
  store = await openStore(':memory:')
  await store.execute(`
    INSERT INTO runs (run_id, kind, scenario, scenario_json, seed, base_url, contract, started_at, time_scale, assay_version, machine_json)
    VALUES ('r', 'run', 's', '{"objectives":{"ttftUs":60000,"serviceUs":null}}', 1, 'http://127.0.0.1', 'svc', TIMESTAMP '2026-01-01', 1, '0', '{}');
    CREATE TEMP TABLE plain AS SELECT 'r' AS run_id, 0 AS retry, 0 AS shard, 'main' AS phase, 'steady' AS part, 'chat' AS step,
      'chat' AS endpoint, 1 AS streamed, 'svc-k2' AS model, 'ok' AS expects,
      0 AS events, 0 AS content_events, 0 AS content_reads, 0 AS unknown_events, 0 AS done_marks, 0 AS bytes_in, 0 AS flags;
  `)
  await editAttempts(
    store,
    `
    INSERT INTO edited BY NAME SELECT plain.*, i AS slot, i * 10000 AS intended_us, i * 10000 + 1000 AS sent_us,
      sent_us + 5000 AS first_event_us, sent_us + 10000 + i * 1000 AS first_content_us, first_content_us + 20000 AS last_content_us,
      last_content_us AS done_us, last_content_us AS closed_us, 'ok' AS outcome, 200 AS status, 11 AS completion_tokens
      FROM plain, range(100) AS t(i);
    INSERT INTO edited BY NAME SELECT plain.* REPLACE ('warmup' AS part), 1000 AS slot, 0 AS intended_us, 0 AS sent_us, 9000000 AS done_us, 9000000 AS closed_us, 'ok' AS outcome, 200 AS status FROM plain;
    INSERT INTO edited BY NAME SELECT plain.*, 1001 AS slot, 500000 AS intended_us, 500000 AS sent_us, 500100 AS done_us, 500100 AS closed_us, 'http_error' AS outcome, 429 AS status, 'rate_limit_exceeded' AS error_code FROM plain;
    INSERT INTO edited BY NAME SELECT plain.*, 1002 AS slot, 0 AS intended_us, 1000 AS sent_us, 3001000 AS closed_us, 'timeout' AS outcome, 'total' AS reason FROM plain;
    INSERT INTO edited BY NAME SELECT plain.*, 1003 AS slot, 0 AS intended_us, 'not_sent' AS outcome, 'budget' AS reason FROM plain;
  `,
  )
  await prepareTop(store, {
    store,
    page: 'launch',
    contract: defaultContract,
    runIds: ['r'],
    timeZone: 'UTC',
    nowUs: 0,
  })
})
afterAll(() => store.close())

async function rows(name: string): Promise<readonly Record<string, unknown>[]> {
  const part = partsOf('launch').find((each) => each.name === name)!
  return rowsOf(store, part)
}

describe('the figures of the launch page', () => {
  test('have latency of successes and timeouts, without fast failures and warm-up', async () => {
    const [chat] = await rows('10-latency-by-step')
    // 101 samples: 30 to 129 ms and the timeout; R-7 puts p50 on the 51st, p90 on the 91st.
    expect(chat).toMatchObject({ step: 'chat', n: 101, service_p50_ms: 80, service_p90_ms: 120 })
    expect(chat).toMatchObject({
      response_p50_ms: 81,
      service_cut_ms: 3000,
      service_p999_ms: expect.closeTo(2712.9, 1),
    })
  })

  test('have time to first token from the socket, and time between tokens from content to content', async () => {
    const [chat] = await rows('20-token-timing')
    expect(chat).toMatchObject({
      // The timeout had no text: its TTFT is at least 3 s, and the longest of 101.
      n: 101,
      ttft_cut_ms: 3000,
      ttft_p50_ms: 60,
      response_ttft_p95_ms: 106,
      tpot_p50_ms: 2,
      tokens_per_s: 500,
    })
  })

  test('have the same run under the definitions of other tools', async () => {
    const told = Object.fromEntries((await rows('60-other-tools')).map((row) => [row.tool, row]))
    expect(told.AIPerf).toMatchObject({ ttft_p50_ms: 59.5, tpot_p50_ms: 2, n: 100 })
    // Step function, and the first token inside: (59 + 20) / 11 for the 50th.
    expect(told.GuideLLM).toMatchObject({
      ttft_p50_ms: 59,
      tpot_p50_ms: expect.closeTo(79 / 11, 3),
    })
    // First event of any kind, and the rest of the time divided by 10.
    expect(told['vLLM bench']).toMatchObject({
      ttft_p50_ms: 5,
      tpot_p50_ms: expect.closeTo(7.45, 3),
    })
    // data[int(100 * 0.5)] is the 51st.
    expect(told.evalscope).toMatchObject({ ttft_p50_ms: 5, tpot_p50_ms: 7.5, latency_p99_ms: 129 })
  })

  test('account for every request, and count failures in goodput', async () => {
    const went = await rows('34-where-requests-went')
    expect(went.map((row) => [row.step, row.attempts, row.sent, row.ok, row.timeout])).toEqual([
      ['chat', 103, 102, 100, 1],
      ['all steps', 103, 102, 100, 1],
      ['outside the steady part', 1, 1, 1, 0],
    ])
    const good = await rows('33-goodput')
    const sum = (name: string) => good.reduce((all, row) => all + Number(row[name]), 0)
    // First content within 60 ms: the streams 0 to 50; the 429 and the timeout are not good.
    expect([sum('good'), sum('n')]).toEqual([51, 102])
  })

  test('count requests in flight from the stamps', async () => {
    const flight = await rows('31-in-flight')
    const at = (second: number) => flight.find((row) => row.at_s === second)?.in_flight
    // At 0.5 s: the warm-up, the timeout, and the streams 44 to 49, of which each lasts 30 + i ms.
    expect(at(0.5)).toBe(
      2 + [...Array(50).keys()].filter((i) => i * 10 + 1 < 500 && i * 10 + 31 + i >= 500).length,
    )
    expect(at(9)).toBe(1)
  })

  test('name each error with its count', async () => {
    const wrong = await rows('41-errors')
    expect(wrong.map((row) => [row.outcome, row['code or reason'], row.n])).toEqual([
      ['429', 'rate_limit_exceeded', 1],
      ['not_sent', 'budget', 1],
      ['timeout', 'total', 1],
    ])
  })

  test('have every percentile on both clocks, up to the last with enough samples', async () => {
    const curve = await rows('12-percentile-curve')
    const service = curve.filter((row) => row.clock === 'service time')
    expect(service[0]).toMatchObject({ one_in: 1, latency_ms: 30 })
    // 101 samples: p92.9 takes 92 of them, p93.7 takes 103.
    expect(service.at(-1)).toMatchObject({ percentile: 92.9205, latency_ms: 122.921 })
    expect(curve.length).toBe(service.length * 2)
  })
})

test('error kinds beyond thirty are counted in one row', { tags: 'whole' }, async () => {
  const many = await openStore(':memory:')
  await enterRun(many)
  await appendAttempts(
    many,
    Array.from({ length: 80 }, (_, slot) =>
      attempt(slot, {
        outcome: 'http_error',
        status: 500,
        errorCode: `code-${String(slot % 40).padStart(2, '0')}`,
      }),
    ),
  )
  await prepareScope(many, { runIds: ['a'], timeZone: 'UTC' })
  const part = partsOf('launch').find((each) => each.name === '41-errors')!
  const rows = await rowsOf(many, part)
  many.close()
  expect(rows).toHaveLength(31)
  expect(rows[29]).toMatchObject({ outcome: '500', 'code or reason': 'code-29', n: 2 })
  expect(rows[30]).toMatchObject({
    outcome: 'others',
    'code or reason': '10 more kinds',
    n: 20,
    share_ratio: 0.25,
  })
})

test('a self-test that was not judged does not count as held', { tags: 'whole' }, async () => {
  const tests = ['held', 'held', 'not judged', 'degraded'].map((result, at) => ({
    ...{ name: `test ${at}`, result, figure: '1', bound: '< 2', remedy: '' },
  }))
  await store.execute(`UPDATE runs SET verdict = 'degraded', verdict_json = $1`, [
    JSON.stringify({ verdict: 'degraded', summary: '', stopped: null, tests }),
  ])
  await prepareScope(store, { runIds: ['r'], timeZone: 'UTC' })
  const top = await launchText(store)
  expect(top).toContain('self-tests: 2 of 4 held; not judged: test 2')
  expect(top).not.toContain('client held')
})

test('a card without its percentile says how many samples it needs', async () => {
  const top = await launchText(store)
  expect(/<dt>Time to first token, median<\/dt>.*?<span[^>]*>([^<]*)</.exec(top)?.[1]).toBe(
    'p95 needs 130 samples; n\u00a0=\u00a0101',
  )
})

describe('the answer of the launch page', () => {
  const answerOf = async (scenario: object, verdict: object) => {
    const told = { verdict: 'valid', summary: '', stopped: null, tests: [], ...verdict }
    await store.execute(
      `UPDATE runs SET scenario_json = $1, verdict = 'valid', verdict_json = $2, ended_us = 1`,
      [JSON.stringify(scenario), JSON.stringify(told)],
    )
    await prepareScope(store, { runIds: ['r'], timeZone: 'UTC' })
    const text = (await launchText(store)).split('</section>')[0]!
    const words = text.replaceAll(/<[^>]*>/g, ' ').replaceAll('&#60;', '<')
    return words.replaceAll(/\s+/g, ' ')
  }
  const held = { text: 'errors < 30%', result: 'held', value: 0.02, unit: 'share', samples: 102 }

  test('says failures once: by the threshold that limits them, else as a doubt', {
    tags: 'whole',
  }, async () => {
    const limited = await answerOf(
      { thresholds: [{ metric: 'errors' }] },
      { thresholds: [held], sweeps: [] },
    )
    expect(limited).toContain('Every threshold was met')
    expect(limited).toContain('errors < 30% held: 2.0 %, n = 102')
    expect(limited).not.toContain('Unexpected failures')
    const free = await answerOf({}, { thresholds: [], sweeps: [] })
    expect(free).toContain('2.0 % of the requests failed, and no threshold limits failures')
    expect(free).not.toContain('Unexpected failures')
    const undecided = await answerOf(
      {},
      { thresholds: [{ ...held, result: 'inconclusive' }], sweeps: [] },
    )
    expect(undecided).toContain(
      '2.0 % of the requests failed, and no threshold limits failures; 1 threshold could not be decided',
    )
  })

  test('says a safe rate once, with its reason', { tags: 'whole' }, async () => {
    const sweep = {
      ...{ phase: 'trial', objective: '95 % of answers within 1 s', cachedShare: 0, trials: [] },
      safeRate: { kind: 'held', heldPerS: 40, safePerS: 36, failedPerS: 80, budget: 'quick' },
    }
    const text = await answerOf({}, { thresholds: [], sweeps: [sweep] })
    expect(text.match(/Safe rate/g)).toHaveLength(1)
    expect(text).toContain('Between 40/s and 80/s nothing is known')
  })
})

test('the first lines name what was sent: endpoint, model and tokens', async () => {
  const workload = await workloadText(store)
  expect(workload !== false && workload.text).toBe(
    'Requests: <b>chat</b>, streamed, model <b>svc-k2</b>, on average unknown prompt and 11 output tokens.',
  )
})
