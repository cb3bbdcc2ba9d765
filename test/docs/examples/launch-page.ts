import { writeFile } from 'node:fs/promises'
import { makeReport, openExistingStore } from 'assay'

const store = await openExistingStore('assay.duckdb')
const { html, warnings } = await makeReport(store, { page: 'launch' })
for (const warning of warnings) console.warn(warning)
await writeFile('launch.html', html)
store.close()
