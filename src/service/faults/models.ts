import type { Behaviour } from '../behaviour.ts'
import type { Call } from '../call.ts'
import type { ModelList, ModelObject } from '../honest/access.ts'
import { type Fault, fault } from './fault.ts'

type Listed = readonly ModelObject[]

/** Changes the models of the list, even if an earlier fault removed the object around it. */
const relisted = (honest: Behaviour, relist: (models: Listed) => readonly object[]) => ({
  modelList(call: Call) {
    const list = honest.modelList(call) as ModelList | Listed
    return 'data' in list ? { ...list, data: relist(list.data) } : relist(list)
  },
})

const edited = (honest: Behaviour, edit: (model: ModelObject) => object) =>
  relisted(honest, (models) => models.map(edit))

export const modelFaults: readonly Fault[] = [
  fault('models-bare-array', 'MODEL-01', 'the list is an array without its object', (honest) => ({
    modelList: (call) => (honest.modelList(call) as ModelList).data,
  })),
  fault('model-created-ms', 'MODEL-02', 'created is in milliseconds', (honest) =>
    edited(honest, (model) => ({ ...model, created: model.created * 1000 })),
  ),
  fault('model-parent-omitted', 'MODEL-02', 'parent is missing', (honest) =>
    edited(honest, ({ parent: _, ...model }) => model),
  ),
  fault('model-root-stale', 'MODEL-02', 'root names another model', (honest) =>
    edited(honest, (model) => ({ ...model, root: 'svc-k1' })),
  ),
  fault('model-missing', 'MODEL-03', 'svc-k2-0905 is not listed', (honest) =>
    relisted(honest, (models) => models.filter(({ id }) => id !== 'svc-k2-0905')),
  ),
  fault('models-duplicated', 'MODEL-03', 'svc-k2 is listed twice', (honest) =>
    relisted(honest, (models) => [...models, ...models.slice(0, 1)]),
  ),
  fault('listed-model-not-found', 'MODEL-04', 'svc-k2-0905 is listed and unknown', (honest) => ({
    modelFor: (call, id) => (id === 'svc-k2-0905' ? null : honest.modelFor(call, id)),
  })),
  fault(
    'unknown-model-echoed',
    'MODEL-05',
    'an unknown model is served under its name',
    (honest) => ({
      modelFor(call, id) {
        const model = honest.modelFor(call, id)
        const standIn = model ?? honest.modelFor(call, 'svc-k2')
        return standIn === model || standIn === null ? model : { ...standIn, id }
      },
    }),
  ),
  fault('unknown-model-fallback', 'MODEL-05', 'an unknown model is served as svc-k2', (honest) => ({
    modelFor: (call, id) => honest.modelFor(call, id) ?? honest.modelFor(call, 'svc-k2'),
  })),
]
