import { writeFileSync } from 'node:fs'
import { metricsReference } from './reference.ts'

/** `npm run metrics`: writes the reference of metrics. */
writeFileSync(new URL('../../docs/metrics.md', import.meta.url), metricsReference())
