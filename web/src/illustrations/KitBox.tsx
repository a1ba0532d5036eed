import { Ground, Picture } from './Picture.tsx'

/** The kit as it comes home: an open box, and a board, a wheel, a servo and wires that want to get out. */
export function KitBox() {
  return (
    <Picture width={240} height={190}>
      <Ground x={120} y={178} rx={98} />
      <path d="m44 86 76-22 76 22-76 26z" fill="var(--pic-wood-deep)" />
      <circle cx="172" cy="62" r="30" fill="var(--pic-screen)" />
      <circle cx="172" cy="62" r="24.5" stroke="var(--pic-dark)" strokeWidth="4" strokeDasharray="5 7.8" />
      <circle cx="172" cy="62" r="14" fill="var(--pic-yellow)" />
      <circle cx="172" cy="62" r="5" fill="var(--pic-white)" />
      <g transform="rotate(-12 92 62)">
        <rect x="56" y="26" width="70" height="80" rx="6" fill="var(--pic-green)" />
        <path d="M62 32h58" stroke="var(--pic-line)" strokeDasharray="0 6" strokeWidth="4" />
        <rect x="78" y="54" width="26" height="26" rx="3" fill="var(--pic-screen)" />
        <path d="M78 60h-5m5 7h-5m5 7h-5m31-14h5m-5 7h5m-5 7h5" />
        <rect x="64" y="18" width="18" height="16" rx="2" fill="var(--pic-mid)" />
        <circle cx="112" cy="46" r="3.5" fill="var(--pic-yellow)" />
        <path d="M64 46h10m38 14v10" stroke="var(--pic-shine)" />
      </g>
      <path d="M126 92c-4-40 8-70 30-72 12 0 14 10 6 14" stroke="var(--pic-orange)" strokeWidth="4" />
      <path d="M134 92c0-30-14-62-2-78" stroke="var(--pic-blue)" strokeWidth="4" />
      <path d="M118 72h32v34h-32z" fill="var(--pic-blue)" />
      <path d="M112 80h6v8h-6zm38 0h6v8h-6zM126 64h14v8h-14z" fill="var(--pic-mid)" />
      <path d="m133 64-12-8m12 8 14-6" strokeWidth="6" stroke="var(--pic-line)" />
      <path d="M44 86 18 70l74-24 0 0m104 40 26-16-30-12" stroke="none" />
      <path d="m44 86 76 26v66l-76-28z" fill="var(--pic-wood)" />
      <path d="m196 86-76 26v66l76-28z" fill="var(--pic-wood-deep)" />
      <path d="m44 86-26 18 74 28 28-20z" fill="var(--pic-wood)" />
      <path d="m196 86 26 18-74 28-28-20z" fill="var(--pic-wood)" />
      <path d="m30 103 14-9 52 18" stroke="var(--pic-shine)" strokeWidth="3" />
      <path d="m60 136 34 12v14l-34-12z" fill="var(--pic-white)" />
      <path d="m66 144 22 8m-22-2 14 5" />
      <path d="M150 150v-14m-6 5 6-7 6 3m10 7v-14m-6 5 6-7 6 3" />
    </Picture>
  )
}
