import { audit, isBroken, openExistingStore, type Rule } from 'assay'

const idsOfAnswers: Rule = {
  id: 'MINE-01',
  title: 'Each answer has an id',
  section: 'our handbook',
  severity: 'must',
  needs: ['passive'],
  promised: [],
  explain: 'Looks for answers without an id. It cannot detect an id that was used before.',
  async decide({ store, runIds }) {
    const rows = await store.rows<{
      runId: string
      slot: number
      retry: number
      id: string | null
    }>(
      `SELECT run_id AS "runId", slot::INTEGER AS slot, retry::INTEGER AS retry, response_id AS id FROM attempts
       WHERE outcome = 'ok' AND list_contains(from_json($1, '["VARCHAR"]'), run_id)`,
      [JSON.stringify(runIds)],
    )
    if (rows.length === 0)
      return { verdict: 'not-observed', requires: 'a request that is answered' }
    const [first, ...more] = rows
      .filter(({ id }) => id === null)
      .map(({ runId, slot, retry }) => ({ runId, slot, retry, shows: 'an answer without an id' }))
    if (first === undefined) return { verdict: 'pass', observations: rows.length }
    const [expected, observed] = ['an id', `none in ${more.length + 1} of ${rows.length} answers`]
    return { verdict: 'fail', observations: rows.length, expected, observed, witnesses: [first] }
  },
}

const store = await openExistingStore('assay.duckdb')
const { findings } = await audit(store, { rules: ['BILL', idsOfAnswers] })
store.close()
for (const { rule, title } of findings.filter(isBroken)) console.error(`${rule}: ${title}`)
