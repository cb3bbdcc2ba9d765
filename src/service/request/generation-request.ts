/** The formats of the two generating endpoints. */
export type Format = 'chat' | 'messages'

/** One message of a conversation, as the model reads it. */
export interface ReadMessage {
  readonly role: string
  readonly text: string
  /** Whether it has the result of a tool. */
  readonly answersTool: boolean
}

/** A function that the client offers. */
export interface Tool {
  readonly name: string
  /** JSON Schema of its arguments. */
  readonly parameters: JsonSchema
}

export type ToolChoice =
  | { readonly kind: 'none' | 'auto' | 'required' }
  | { readonly kind: 'named'; readonly name: string }

export type JsonSchema = Readonly<Record<string, unknown>> | boolean

/** What the text of the answer must be. */
export type OutputFormat =
  | { readonly kind: 'text' }
  // Any JSON object.
  | { readonly kind: 'object' }
  | { readonly kind: 'schema'; readonly schema: JsonSchema }

/** A generation request of either format, checked, with defaults filled in. */
export interface GenerationRequest {
  readonly format: Format
  readonly model: string
  readonly messages: readonly ReadMessage[]
  readonly system: string | null
  /** Images of the conversation, as their addresses or data. */
  readonly images: readonly string[]
  readonly maxTokens: number
  /** Answers that are asked for. */
  readonly n: number
  readonly stop: readonly string[]
  readonly stream: boolean
  readonly includeUsage: boolean
  readonly temperature: number
  readonly topP: number
  /** Empty if the request is passed on to an upstream, which reads the tools itself. */
  readonly tools: readonly Tool[]
  readonly toolChoice: ToolChoice
  readonly output: OutputFormat
  /** Whether the model reasons first; null leaves it to the model. */
  readonly thinks: boolean | null
}
