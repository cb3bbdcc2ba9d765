import { audit, isBroken, openExistingStore } from 'assay'

const store = await openExistingStore('assay.duckdb')
const { findings } = await audit(store, { rules: ['BILL', 'RATE'] })
store.close()
for (const { rule, title } of findings.filter(isBroken)) console.error(`${rule}: ${title}`)
process.exitCode = findings.some(isBroken) ? 3 : 0
