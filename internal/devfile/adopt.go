package devfile

// Adopt wraps a descriptor of a device file that another process opened. The new
// file owns fd, also after a failure. k and name are as for [Open].
func Adopt(k Kernel, fd int, name string) (*File, error) {
	if k == nil {
		k = realKernel
	}
	h, err := k.Adopt(fd, name)
	if err != nil {
		return nil, &Error{Op: "open", Path: name, Err: cause(err)}
	}
	return newFile(k, h, name), nil
}
