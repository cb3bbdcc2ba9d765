import type { FullContract, Range } from '../../contract/contract.ts'
import type { Profile } from '../profile.ts'
import type { Format } from './generation-request.ts'

/** The requirements on requests of one format, as data, so that a fault can change one of them. */
export interface RequestRules {
  readonly required: readonly string[]
  readonly known: readonly string[]
  /** Null accepts any string. */
  readonly roles: readonly string[] | null
  readonly temperature: Range
  readonly penalty: Range
  readonly topP: Range
  /** Whether the ends of ranges are invalid. */
  readonly exclusive: boolean
  /** Whether "0.5" is a valid number. */
  readonly coerce: boolean
  readonly maxStops: number
  /** Whether surplus stop sequences are dropped, not refused. */
  readonly truncateStops: boolean
  readonly maxMaxTokens: number
  readonly maxN: number
  readonly systemIsDropped: boolean
  /** Whether images are read. Without, they are refused. */
  readonly images: boolean
  /** Parts of answers that a price list names, such as searches and images. */
  readonly sells: ReadonlySet<string>
  /** Whether an upstream reads the request: it decides about tools, schemas and the like. */
  readonly relayed: boolean
  /** Whether `stream: true` gets a stream. If not, it is accepted and one body answers it. */
  readonly streams: boolean
  readonly unknownFields: Profile['unknownFields']
  readonly emptyMessages: Profile['emptyMessages']
  readonly defaults: {
    readonly maxTokens: number
    readonly temperature: number
    readonly topP: number
    readonly stream: boolean
    readonly model: string
  }
}

export function requestRules(
  contract: FullContract,
  profile: Profile,
  format: Format,
): RequestRules {
  const { defaults, limits, ranges } = contract
  const chat = format === 'chat'
  const wide = profile.clients === 'wide'
  const priced = contract.prices?.models.flatMap(({ price }) => Object.keys(price)) ?? []
  const sells: ReadonlySet<string> = new Set(priced)
  return {
    required: chat ? ['model', 'messages'] : ['model', 'messages', 'max_tokens'],
    known: chat ? chatFields : messagesFields,
    roles: chat
      ? ['system', 'user', 'assistant', ...(wide ? ['developer'] : [])]
      : ['user', 'assistant'],
    temperature: chat ? ranges.chatTemperature : ranges.messagesTemperature,
    penalty: ranges.penalty,
    topP:
      profile.topP === 'refused'
        ? { min: 0, max: 1 }
        : { min: -Number.MAX_VALUE, max: Number.MAX_VALUE },
    exclusive: false,
    coerce: false,
    maxStops: limits.maxStopSequences,
    truncateStops: false,
    maxMaxTokens:
      profile.maxTokens === 'refuse' ? limits.maxOutputTokens : limits.maxTokensParameter,
    maxN: profile.maxN,
    systemIsDropped: false,
    images: wide || sells.has('input_image'),
    sells,
    relayed: false,
    streams: true,
    unknownFields: profile.unknownFields,
    emptyMessages: profile.emptyMessages,
    defaults: {
      maxTokens: defaults.maxTokens,
      temperature: defaults.temperature,
      topP: defaults.topP,
      stream: false,
      model: contract.models[0]?.id ?? '',
    },
  }
}

const chatFields = [
  ...['model', 'messages', 'temperature', 'max_tokens', 'top_p', 'frequency_penalty'],
  ...['presence_penalty', 'stream', 'stream_options', 'n', 'stop', 'user'],
]
const messagesFields = [
  ...['model', 'messages', 'max_tokens', 'system', 'temperature', 'top_p', 'stop_sequences'],
  ...['stream', 'metadata'],
]
