import { writeFile } from 'node:fs/promises'
import { defaultContract, makeReport, openStore } from 'assay'

const store = await openStore('assay.duckdb')
const { html, warnings } = await makeReport({
  ...{ store, page: 'launch', runIds: [], contract: defaultContract },
  ...{ timeZone: 'UTC', nowUs: Date.now() * 1000 },
})
for (const warning of warnings) console.warn(warning)
await writeFile('launch.html', html)
store.close()
