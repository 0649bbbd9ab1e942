package uverbs

// SetSysfs makes a device look for /sys below a folder of a test.
func SetSysfs(d *Device, root string) {
	h := realHost()
	h.root = root
	d.host = h
}
