/** The data of each event, by a parser of another make. */
export function eventsIn(text: string): readonly string[]
