import { expect, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import { closedPhases } from '../../src/report/closed-phases.ts'
import { cardsOf } from '../../src/report/launch-cards.ts'
import { prepareScope } from '../../src/report/scope.ts'
import { summarise } from '../../src/report/summary/summarise.ts'
import { appendAttempts } from '../../src/store/attempts/recorder.ts'
import { chatScenario } from '../run/target.ts'
import { openStore } from '../store/opened.ts'
import { attempt, enterRun } from './attempts.ts'
import { launchText } from './launch-text.ts'

const scenario = chatScenario(`  - { name: open, load: poisson, rate: 1/s, duration: 1s }
  - { name: users, load: concurrency, users: 2, duration: 1s }
  - { name: flat <out>, load: saturate, connections: 2, duration: 1s }`)

test('closed phases are found by their load, and any other scenario text has none', () => {
  expect(closedPhases(JSON.stringify(scenario))).toEqual(['users', 'flat <out>'])
  for (const other of ['{}', '', 'null', '{"phases":[7,{"name":"a"}]}', '{"phases":{}}']) {
    expect(closedPhases(other)).toEqual([])
  }
})

test('the page of a run names its closed loads, as data', { tags: 'whole' }, async () => {
  const store = await openStore(':memory:')
  await enterRun(store, 'a', { scenarioJson: JSON.stringify(scenario) })
  await appendAttempts(store, [attempt(0)])
  await prepareScope(store, { runIds: ['a'], timeZone: 'UTC' })
  const top = await launchText(store)
  store.close()
  expect(top).toContain('Closed load (users, flat &#60;out&#62;): its users wait for answers')
  expect(top).toContain('No arrival rate was planned')
})

test('with a closed load, the cards say that the rate was not planned and what response time leaves out', {
  tags: 'whole',
}, async () => {
  const topOf = async (scenarioJson: string) => {
    const store = await openStore(':memory:')
    await enterRun(store, 'a', { scenarioJson })
    await appendAttempts(
      store,
      Array.from({ length: 130 }, (_, slot) => attempt(slot)),
    )
    await prepareScope(store, { runIds: ['a'], timeZone: 'UTC' })
    const top = await launchText(store)
    store.close()
    return top
  }
  const closed = await topOf(JSON.stringify(scenario))
  expect(closed).toMatch(/in [^<]+, [\d,.]+\/s; closed load: not a planned rate</)
  expect(closed).toMatch(/service time [^<]+\u00a0ms; closed load: waiting not included/)
  expect(await topOf('{}')).toMatch(/in [^<]+, [\d,.]+\/s</)
})

test('the card of a closed load with too few samples for p95 says that waiting is not included', async () => {
  const sayingOf = async (closed: boolean) => {
    const store = await openStore(':memory:')
    await enterRun(store, 'a')
    const rows = Array.from({ length: 20 }, (_, slot) => attempt(slot))
    await appendAttempts(store, rows)
    const { all } = await summarise(store, 'a', defaultContract)
    store.close()
    return cardsOf(all, closed).find(({ label }) => label.startsWith('Response time'))?.aside
  }
  expect(await sayingOf(false)).toBe('p95 needs 130 samples; n = 20')
  expect(await sayingOf(true)).toBe(
    'p95 needs 130 samples; n = 20; closed load: waiting not included',
  )
})
