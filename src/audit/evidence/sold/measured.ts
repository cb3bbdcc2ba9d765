import type { Contract, Model } from '../../../contract/contract.ts'
import type { PromiseName } from '../../../contract/promises.ts'
import { type Evidence, type Rule, whenPromised } from '../../rule.ts'
import { figuresOf, type Measured, type Verdict } from '../../verdict.ts'
import { oncePerEvidence } from '../once.ts'

/** Stands before what a contract promises, in the sentence of a measured value. */
export const promisesThat = '; the contract promises'

/** Promises that are always kept: what they measure is said, and accuses nobody. */
const kept = {
  templateTokens: Number.MAX_SAFE_INTEGER,
  maxReasoningTokens: Number.MAX_SAFE_INTEGER,
  cache: {},
  tools: { schema: Number.EPSILON, intact: true },
  fixed: true,
  tokenizer: 'o200k',
} as const satisfies Partial<Model>

/** The models of the contract; of one without any, those that requests name. */
const modelsOf = oncePerEvidence(async ({ store, runIds, contract }: Evidence) => {
  if (contract.models !== undefined) return contract.models
  const rows = await store.rows<{ model: string }>(
    `SELECT DISTINCT model FROM attempts WHERE list_contains($1::VARCHAR[], run_id) AND model IS NOT NULL ORDER BY model LIMIT 50`,
    [JSON.stringify(runIds)],
  )
  return rows.map(({ model }): Model => ({ id: model, listed: true, reasoning: false }))
})

export type MeasuredEvidence = Evidence & {
  readonly contract: Contract & { readonly models: readonly Model[] }
}

/** The evidence with models that promise what is always kept, by some fields; none for models as they are. */
export async function measuring(
  evidence: Evidence,
  ...fields: readonly (keyof typeof kept)[]
): Promise<MeasuredEvidence> {
  const promised = Object.fromEntries(fields.map((field) => [field, kept[field]]))
  const models = (await modelsOf(evidence)).map((model) => ({ ...promised, ...model }))
  // Prices are of money, and what accuses nobody costs nothing.
  const { prices: _, ...contract } = evidence.contract
  return { ...evidence, contract: { ...contract, models } }
}

/** A rule that judges one promise of a model. Without it, the rule says what it measures, by these fields that are always kept. */
export const judgedOrMeasured = <P extends PromiseName>(
  promise: P,
  decide: (evidence: Evidence) => Promise<Verdict>,
  ...fields: readonly (keyof typeof kept)[]
): Pick<Rule, 'promised' | 'decide'> =>
  whenPromised(
    [promise],
    (evidence) => decide(evidence),
    async (evidence) => measuredIn(await decide(await measuring(evidence, ...fields))),
  )

/** What a verdict by such promises has measured; undefined if nothing was. */
export function measuredIn(verdict: Verdict): Measured | undefined {
  const figures = figuresOf(verdict)
  const said =
    verdict.verdict === 'pass'
      ? verdict.note
      : verdict.verdict === 'fail'
        ? verdict.observed
        : verdict.verdict === 'inconclusive'
          ? verdict.why
          : undefined
  const note = said?.split(promisesThat)[0]
  return note === undefined ? undefined : { note, ...(figures.length === 0 ? {} : { figures }) }
}
