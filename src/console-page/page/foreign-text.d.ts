export function visible(text: string): string;
export function shortened(text: string, most?: number): string;
