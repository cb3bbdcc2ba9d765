import { serviceUrl } from '../../../contract/base-url.ts'
import type { Model } from '../../../contract/contract.ts'
import type { Evidence } from '../../rule.ts'
import { runsAgainst } from '../../runs.ts'
import { oncePerEvidence } from '../once.ts'

/** The runs in the same store against the reference of each model that has one, and the model by the name that it has there. */
export const referencesIn = oncePerEvidence(
  async (evidence: Evidence): Promise<ReadonlyMap<Model, AtReference>> => {
    const found = new Map<Model, AtReference>()
    for (const model of evidence.contract.models ?? []) {
      if (model.reference === undefined) continue
      const { baseUrl, model: name } = model.reference
      const there = name === undefined ? model : named(model, name)
      const runIds = await runsAgainst(evidence.store, serviceUrl(baseUrl, evidence.contract))
      const contract = { ...evidence.contract, models: [there] }
      found.set(model, { model: there, evidence: { ...evidence, runIds, contract } })
    }
    return found
  },
)

export interface AtReference {
  readonly model: Model
  /** Its runs are those against the reference, and its contract has this model alone. */
  readonly evidence: Evidence
}

/** The model, by its name at the reference alone. */
const named = ({ aliases: _, snapshots: __, ...model }: Model, id: string): Model => ({
  ...model,
  id,
})
