import { createHash } from 'node:crypto'
import type { AuthHeader, Model } from '../../contract/contract.ts'
import { lookup } from '../../user/lookup.ts'
import type { Behaviour, Kit } from '../behaviour.ts'
import type { Call } from '../call.ts'

/** Release dates of the models (§9.2). The specification has none for one of them. */
const released: Readonly<Record<string, string>> = lookup({
  'svc-k2': '2025-01-15',
  'svc-k2-0905': '2025-09-05',
  'svc-k2-thinking': '2025-11-10',
  'svc-k2.5': '2026-01-27',
})

type Access = Pick<
  Behaviour,
  'path' | 'presentedKey' | 'keyFor' | 'modelList' | 'oneModel' | 'modelFor'
>

export function honestAccess({ contract, profile, accounts }: Kit): Access {
  const bearer = contract.auth.chat
  const plain = contract.auth.messages
  const acceptedBy = (call: Call): readonly AuthHeader[] => {
    switch (call.endpoint) {
      case 'chat':
        return profile.otherHeader === 'accepted' ? [bearer, plain] : [bearer]
      case 'messages':
        return profile.otherHeader === 'accepted' ? [plain, bearer] : [plain]
      case 'models':
        return shared(profile.modelsAuth)
      default:
        return shared(profile.creditsAuth)
    }
  }
  const shared = (answer: 'none' | 'either' | 'bearer' | 'x-api-key') =>
    answer === 'bearer' ? [bearer] : answer === 'x-api-key' ? [plain] : [bearer, plain]

  return {
    path: (call) => call.incoming.path,
    presentedKey(call) {
      for (const { name, prefix } of acceptedBy(call)) {
        const value = call.incoming.headers[name]
        if (typeof value !== 'string') continue
        // HTTP compares schemes without case. Keys are compared exactly.
        if (value.slice(0, prefix.length).toLowerCase() === prefix.toLowerCase()) {
          return value.slice(prefix.length)
        }
      }
      return null
    },
    keyFor(_call, presented) {
      const key = presented === null ? null : accounts.findKey(presented)
      return key === null || key.revokedUs !== null ? null : key
    },
    modelList: (): ModelList => ({
      object: 'list',
      data: contract.models
        .filter((model) => model.listed || (profile.listK25 && !model.listed))
        .map((model) => modelObject(model, profile.permissionFields)),
    }),
    oneModel(_call, id) {
      const model = contract.models.find((each) => each.id === id)
      return model === undefined ? null : modelObject(model, profile.permissionFields)
    },
    modelFor: (_call, id) => contract.models.find((model) => isNamed(model, id)) ?? null,
  }
}

/** Whether a model has this id, alias or listed snapshot. */
function isNamed({ id, aliases = [], snapshots = [] }: Model, name: string): boolean {
  const dated = snapshots === 'dated' ? [] : snapshots
  return id === name || aliases.includes(name) || dated.includes(name)
}

/** An element of the model list (§2.2). */
export interface ModelObject {
  readonly id: string
  readonly object: 'model'
  /** Unix seconds. */
  readonly created: number
  readonly owned_by: string
  readonly permission: readonly object[]
  readonly root: string
  readonly parent: null
}

export interface ModelList {
  readonly object: 'list'
  readonly data: readonly ModelObject[]
}

function modelObject({ id }: Model, permission: boolean): ModelObject {
  const created = Date.parse(released[id] ?? '2025-01-15') / 1000
  return {
    id,
    object: 'model',
    created,
    owned_by: id.split('-')[0] ?? id,
    permission: permission
      ? [
          {
            id: `modelperm-${createHash('sha256').update(id).digest('hex').slice(0, 24)}`,
            object: 'model_permission',
            created,
            allow_create_engine: false,
            allow_sampling: true,
            allow_logprobs: false,
            allow_search_indices: false,
            allow_view: true,
            allow_fine_tuning: false,
            organization: '*',
            group: null,
            is_blocking: false,
          },
        ]
      : [],
    root: id,
    parent: null,
  }
}
