import { isToken, isValue } from './response-framing.ts'

/**
 * Where a reader is in the extensions of a chunk (RFC 9112, 7.1.1), which nobody uses: their grammar
 * is checked, so that bytes which another reader would frame otherwise are a breach for us too.
 *
 *     5;name=value;name="quoted \\" value"
 */
export type ExtensionState = 'none' | 'begin' | 'name' | 'value' | 'quoted' | 'pair' | 'unquoted'

/** @returns the state behind one more byte, which ends no line; null for a breach of the grammar */
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

/** Whether a line may end here. */
export function mayEnd(state: ExtensionState): boolean {
  return state === 'none' || state === 'name' || state === 'value' || state === 'unquoted'
}

const SEMICOLON = 59
const EQUALS = 61
const QUOTE = 34
const BACKSLASH = 92
