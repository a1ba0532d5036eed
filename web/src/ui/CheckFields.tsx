/**
 * Announces to screen readers each time that a form was not sent: nothing else would if the invalid field has the focus
 * already. Sighted users see the marked fields.
 */
export function CheckFields({ refused }: { refused: number }) {
  return (
    <div role="alert" className="visually-hidden">
      {/* A new element each time: screen readers announce changes only. */}
      {refused > 0 && <span key={refused}>Please check the marked fields.</span>}
    </div>
  )
}
