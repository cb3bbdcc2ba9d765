import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AuditReport } from '../../../src/audit/audit.ts'
import { auditLog } from '../../../src/audit/log-alone/audit-log.ts'
import type { Verdict } from '../../../src/audit/verdict.ts'
import { parseContract } from '../../../src/contract/load.ts'
import { parseYaml } from '../../../src/user/yaml.ts'

/** The contract of a gateway with two models, as a user writes it. */
export const gatewayContract = `
name: our-gateway
extends: none
currency: USD
charged: { success: full, refused: none }
models:
  - { id: large, price: { input: 4, cache_read: 0.4, output: 20 } }
  - { id: small, price: { input: 0.5, output: 2 } }
`
const contract = parseContract(parseYaml(gatewayContract), 'contract.yaml')

export interface Row {
  readonly request_id: string
  readonly spend: number | string
  readonly [name: string]: unknown
}

/** A row of LiteLLM. The cost is a whole number of tenths of a microdollar, so that it is exact by hand. */
export function row(nth: number, change: Readonly<Record<string, unknown>> = {}): Row {
  const [prompt, cached, completion] = [100 + nth, nth % 3 === 0 ? 50 : 0, 20 + (nth % 7)]
  const tenths = (prompt - cached) * 40 + cached * 4 + completion * 200
  const second = String(nth % 60).padStart(2, '0')
  return {
    request_id: `chatcmpl-${nth}`,
    call_type: 'acompletion',
    api_key: 'k',
    model: 'large',
    spend: `0.${String(tenths).padStart(7, '0')}`,
    startTime: `2026-11-09T10:00:${second}.123Z`,
    endTime: `2026-11-09T10:00:${second}.923Z`,
    prompt_tokens: prompt,
    completion_tokens: completion,
    metadata: { usage_object: { prompt_tokens_details: { cached_tokens: cached } } },
    ...change,
  }
}

export const rows = Array.from({ length: 40 }, (_, nth) => row(nth))
/** An audit of a log alone. */
export async function auditOf(text: string, name = 'log.jsonl'): Promise<AuditReport> {
  const folder = mkdtempSync(join(tmpdir(), 'assay-log-alone-'))
  try {
    const file = join(folder, name)
    writeFileSync(file, text)
    return await auditLog({ file, contract, nowMs: Date.UTC(2026, 11, 1) })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

export const linesOf = (rows: readonly Row[]) =>
  rows.map((each) => `${JSON.stringify(each)}\n`).join('')

/** Its verdicts, by rule. */
export async function verdictsOf(text: string): Promise<ReadonlyMap<string, Verdict>> {
  const { findings } = await auditOf(text)
  return new Map(findings.map(({ rule, verdict }) => [rule, verdict]))
}

export const verdicts = (rows: readonly Row[]) => verdictsOf(linesOf(rows))
