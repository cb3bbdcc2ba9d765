import { readFileSync } from 'node:fs'
import { audit, isBroken, loadContract, openExistingStore } from 'assay'

const file = 'spend.jsonl'
const store = await openExistingStore('assay.duckdb')
const { findings } = await audit(store, {
  contract: await loadContract('gateway.yaml'),
  log: { text: readFileSync(file, 'utf8'), file },
  rules: ['PRICE'],
})
store.close()
const broken = findings.filter(isBroken)
for (const { rule, title } of broken) console.error(`${rule}: ${title}`)
// A job that judged nothing has not passed.
const isJudged = findings.some(({ verdict: { verdict } }) => verdict === 'pass')
process.exitCode = broken.length > 0 ? 3 : isJudged ? 0 : 4
