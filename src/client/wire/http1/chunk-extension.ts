import { isToken, isValue } from './response-framing.ts'

/**
 * The state of a reader in the extensions of a chunk (RFC 9112, 7.1.1). They are ignored, but their
 * grammar is checked: bytes that another reader might frame differently are an error.
 *
 *     5;name=value;name="quoted \\" value"
 */
export type ExtensionState = 'none' | 'begin' | 'name' | 'value' | 'quoted' | 'pair' | 'unquoted'

/** @param byte not a line end @returns the state after the byte; null if it breaks the grammar */
export function afterByte(state: ExtensionState, byte: number): ExtensionState | null {
  switch (state) {
    case 'none':
      return byte === SEMICOLON ? 'begin' : null
    case 'begin':
    case 'name':
      if (isToken[byte] === 1) return 'name'
      return byte === EQUALS ? 'value' : byte === SEMICOLON ? 'begin' : null
    case 'value':
      if (isToken[byte] === 1) return 'value'
      return byte === QUOTE ? 'quoted' : byte === SEMICOLON ? 'begin' : null
    case 'quoted':
      if (byte === QUOTE) return 'unquoted'
      if (byte === BACKSLASH) return 'pair'
      return isValue[byte] === 1 ? 'quoted' : null
    case 'pair':
      return isValue[byte] === 1 ? 'quoted' : null
    case 'unquoted':
      return byte === SEMICOLON ? 'begin' : null
  }
}

/** Whether the line may end in this state. */
export const mayEnd = (state: ExtensionState): boolean =>
  state === 'none' || state === 'name' || state === 'value' || state === 'unquoted'

const SEMICOLON = 59
const EQUALS = 61
const QUOTE = 34
const BACKSLASH = 92
