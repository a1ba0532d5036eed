/** Something that must not be. `rule` names what was broken, so that a walk can be shrunk without going over to another fault. */
export class Violation extends Error {
  readonly rule: string

  constructor(rule: string, detail: string) {
    super(`${rule}: ${detail}`)
    this.name = 'Violation'
    this.rule = rule
  }
}
