import { usageHandler } from 'assay'

const usage = usageHandler('assay.duckdb', 'usage.yaml')
await usage.ready
export default { fetch: usage, close: usage.close }
