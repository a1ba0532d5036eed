import { Ground, Picture } from './Picture.tsx'
import { Portrait } from './Portrait.tsx'

/** A young founder with a plan on the wall, and an idea that is about to become the next line on it. */
export function InnovatorScene() {
  return (
    <Picture width={440} height={340}>
      <Ground x={220} y={324} rx={206} ry={11} />
      <g transform="rotate(-2 250 130)">
        <rect x="128" y="14" width="286" height="212" rx="6" fill="var(--pic-plan)" />
        <path
          d="M128 54h286M128 94h286M128 134h286M128 174h286M168 14v212M208 14v212M248 14v212M288 14v212M328 14v212M368 14v212"
          stroke="var(--pic-plan-line)"
          opacity=".25"
          strokeWidth="1"
        />
        <g stroke="var(--pic-plan-line)">
          <path d="M236 122c0-34 16-54 38-54s38 20 38 54zM228 122h92q4 0 4 6c0 24-22 30-50 30s-50-6-50-30q0-6 4-6z" />
          <path d="M244 130h60q4 0 4 4 0 14-34 14t-34-14q0-4 4-4z" />
          <circle cx="262" cy="138" r="4" />
          <circle cx="286" cy="138" r="4" />
          <path d="m236 110-34-26-20 34m52 4-42-8-24 44m56-26-28 10-14 42m96-74 34-26 20 34m-52 4 42-8 24 44m-56-26 28 10 14 42" />
          <path d="M224 44h100m-100-5v10m100-10v10M396 68v90m-5-90h10m-10 90h10" strokeWidth="1.5" />
          <path d="M274 68V56" />
          <circle cx="274" cy="53" r="3" />
          <path d="M146 34h34m-34 10h24" strokeDasharray="6 4" />
          <path d="M330 190h66v24h-66zm0 12h66" strokeWidth="1.5" />
          <circle cx="164" cy="196" r="18" strokeDasharray="5 4" />
          <circle cx="164" cy="196" r="9" />
        </g>
        <circle cx="138" cy="24" r="4" fill="var(--pic-orange)" />
        <circle cx="404" cy="24" r="4" fill="var(--pic-orange)" />
      </g>
      <path d="M16 262h408q8 0 8 8v6q0 8-8 8H16q-8 0-8-8v-6q0-8 8-8z" fill="var(--pic-wood)" />
      <path d="M8 274v2q0 8 8 8h408q8 0 8-8v-2z" fill="var(--pic-shade)" stroke="none" />
      <path d="M44 284v36m352-36v36" strokeWidth="10" />
      <path d="M44 284v36m352-36v36" stroke="var(--pic-wood-deep)" strokeWidth="6" />
      <g transform="translate(14 86) scale(2.2)" strokeWidth=".91">
        <g strokeWidth=".91">
          <Portrait skin={3} hair="curls" hairColour="var(--pic-screen)" shirt="var(--pic-orange)" />
        </g>
      </g>
      <circle cx="66" cy="42" r="32" fill="var(--pic-yellow)" opacity=".28" stroke="none" />
      <path d="M56 56c-14-10-10-32 10-32s24 22 10 32v6H56z" fill="var(--pic-yellow)" />
      <path d="M57 62h18v6H57zm3 6h12v5H60z" fill="var(--pic-mid)" />
      <path d="M62 46l4 5 4-5M66 12V6M40 22l-4-4m56 4 4-4M34 44h-6m70 0h6" />
      <g transform="translate(232 196)">
        <path d="m36 30-18-14-14 50m36-28-14-4-6 32m82-36 18-14 14 50m-36-28 14-4 6 32" strokeWidth="8" />
        <path
          d="m36 30-18-14-14 50m36-28-14-4-6 32m82-36 18-14 14 50m-36-28 14-4 6 32"
          stroke="var(--pic-mid)"
          strokeWidth="4"
        />
        <path d="M34 34c0-22 12-34 28-34s28 12 28 34z" fill="var(--pic-blue)" />
        <path d="M28 34h68q4 0 4 5c0 16-16 22-38 22S24 55 24 39q0-5 4-5z" fill="var(--pic-white)" />
        <path d="M40 39h44q4 0 4 3 0 11-26 11T36 42q0-3 4-3z" fill="var(--pic-screen)" />
        <circle cx="54" cy="45" r="3.5" fill="var(--pic-glow)" stroke="none" />
        <circle cx="70" cy="45" r="3.5" fill="var(--pic-glow)" stroke="none" />
        <path d="M46 18c2-6 6-9 10-10" stroke="var(--pic-shine)" strokeWidth="3" />
        <path d="M62 0v-8" />
        <circle cx="62" cy="-10" r="3.5" fill="var(--pic-orange)" />
      </g>
      <path d="M376 240h32v22h-32z" fill="var(--pic-white)" />
      <path d="M408 244h6q6 0 6 6t-6 6h-6m-26-20v-8m8 8v-12m8 12v-8" />
      <path d="m186 256 34-14 3 6-33 14z" fill="var(--pic-yellow)" />
    </Picture>
  )
}
